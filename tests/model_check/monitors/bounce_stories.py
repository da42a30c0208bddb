"""Stories of brokers that come back as other processes, noticed or not: in pairs, as in `signature_stories`."""

from model_check.monitors.signatures import NOTICED, SETTLED
from tests.model_check.monitors.signature_stories import restarted, returned
from tests.model_check.monitors.stories import Story, born


def unheard_start(story: Story, *, unnoticed: bool) -> None:
    if unnoticed:
        restarted(story, 3)
    else:
        story.wire[3] = story.wire[3][:1]
    story.rest()


def away(story: Story, *, soon: bool = False, stopped: bool = False, busy: bool = False) -> None:
    """The cluster is at rest; broker 3 dies, and is back a while later; nobody tells its new process anything.

    It is back soon; or the controller is stopped meanwhile; or has written something just before.
    """
    story.rest()
    if busy:
        born(story, "other")
    if stopped:
        story.act("broker-sigstop", 1)
    story.act("broker-kill-9", 3)
    story.end(3)
    story.ms += 0 if soon else 2 * NOTICED
    story.act("broker-start", 3)
    story.start(3)
    returned(story, 3)
    if stopped:
        story.act("broker-sigcont", 1)
    story.rest()


def away_once_settled(story: Story, *, busy: bool) -> None:
    """Broker 3 dies a while after a topic was created, or at once, and is away for some time; no rest is recorded."""
    born(story, "other")
    story.ms += 0 if busy else SETTLED
    story.act("broker-kill-9", 3)
    story.end(3)
    story.ms += 2 * NOTICED
    story.act("broker-start", 3)
    story.start(3)
    returned(story, 3)
    story.rest()


def away_at_rest(story: Story, *, restless: bool) -> None:
    """Broker 3 dies just after a topic was created, and is away for long; the cluster comes to rest or not."""
    born(story, "other")
    story.act("broker-kill-9", 3)
    story.end(3)
    if restless:
        story.ms += 10_000
    else:
        story.rest(last=hex(len(story.transactions)))
    story.act("broker-start", 3)
    story.start(3)
    returned(story, 3)
    story.rest()


def unheard_return(story: Story, *, unnoticed: bool) -> None:
    """Broker 3 comes back as another process; the controller has taken it out of the ISR of another topic before."""
    born(story, "other")
    story.end(3)
    story.start(3)
    if not unnoticed:
        story.state(1, 2, 1, (2,), topic="other")
    returned(story, 3)
    story.rest()
