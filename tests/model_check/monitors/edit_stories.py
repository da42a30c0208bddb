"""Stories of breaks that an edit of AR by hand brings about, in pairs as those of `signature_stories`."""

from tests.model_check.monitors.signature_stories import TOPIC
from tests.model_check.monitors.stories import Story, deleted, failed_over, moved


def edited(story: Story, *, by_hand: bool) -> None:
    """Broker 1 comes into AR, by hand or by the controller, and is told nothing."""
    story.assign(99 if by_hand else 1, 2, 3, 1)
    story.rest()


def edited_back(story: Story, *, added: bool) -> None:
    """Broker 1 comes into AR by hand; or 3, which the controller has there all along, and is not told what is next."""
    story.assign(99, 2)
    story.assign(99, *((2, 3, 1) if added else (2, 3)))
    if not added:
        story.state(1, 2, 1, (2, 3))
        story.order(2, 2, 1, (2, 3), version=1)
    story.rest()


def edited_and_moved(story: Story, *, unheard: bool) -> None:
    """Broker 1 is in AR by hand, or by the first step of a move whose RAR has it, too."""
    story.assign(99, 2, 3, 1)
    if not unheard:
        story.move(1, 2)
        story.assign(1, 1, 2, 3)
    story.rest()


def edited_and_deleted(story: Story, *, unheard: bool) -> None:
    """Broker 1 is in AR by hand, or by a move, and is not told to delete its replica as the topic goes."""
    story.assign(99 if unheard else 1, 2, 3, 1)
    story.create(99, "/admin/delete_topics/t")
    for broker in (2, 3):
        story.stop(broker)
    deleted(story)


def moves_back(story: Story, *, unheard: bool) -> None:
    """The controller writes, unasked, the AR that it knows, or one that it has left; a tool has added a partition."""
    if unheard:
        story.assign(99, 2, 3, 1)
    else:
        moved(story)
    story.set(99, TOPIC, {"version": 1, "partitions": {"0": [2, 3, 1] if unheard else [3], "1": [2]}})
    story.set(1, TOPIC, {"version": 1, "partitions": {"0": [2, 3], "1": [2]}})


def undoes_an_edit(story: Story, *, unheard: bool) -> None:
    """Broker 1 comes into AR by hand, and a move writes RAR and the AR of before; the next controller has read it."""
    story.assign(99, 2, 3, 1)
    if not unheard:
        failed_over(story)
    story.move(3)
    story.assign(1 if unheard else 2, 3, 2)
