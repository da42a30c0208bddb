"""Claims that are asked of a step go by what that step is about, although queues are narrowed and models kept."""

from model_check.judging.broken_claims import BrokenClaims
from model_check.judging.explaining import Explainer
from model_check.recordings.reading import read
from model_check.stepping.open_system import RECREATION
from spec.variants import AS_CODED
from tests.model_check.unpacking import recording

CONFIG = "34-D55-config-lost"


def test_a_topic_that_comes_again_is_judged_by_its_new_assignment_and_the_others_by_the_old() -> None:
    explainer = Explainer(read(recording(CONFIG)), AS_CODED)
    system, asked = explainer.system, BrokenClaims(explainer)
    models = (system.model, system.model_for({RECREATION: 0}), system.model)
    narrowed = [asked._narrowed(one, system.initial) for one in models]
    assert [one.scope.assigned for one in narrowed] == [((2, 3),), ((3, 2),), ((2, 3),)]
    assert narrowed[0] is narrowed[2]
