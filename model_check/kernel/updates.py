"""Updates as machine code: for every action, a function that makes the successors of a block of states.

A condition is asked of every state, an update is computed only where its action is enabled, so updates stay ordinary
scalar code. An action's function walks the states whose bit is set in the action's mask, reads the words of each,
computes the new values from the old ones, all at once, and writes the successor. A successor equal to its own state is
not written: it leads nowhere new.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

from model_check.kernel.hashing import hash_ir
from model_check.kernel.lowering import Scalars
from model_check.kernel.packing import WORD, Packing, Place, signed
from model_check.kernel.slicing import GROUPS
from model_check.terms.folding import Facts, Folding
from spec.language.rules import Action


def action_ir(number: int, action: Action, program: Folding, packing: Packing) -> Iterator[str]:
    """`@action<number>(rows, mask, successors, parents, hashes) -> how many`: for each row whose bit is set in
    the mask, the successor, the row's number within the block, and the successor's hash, appended in order of rows;
    rows that do not change are left out.
    """
    scalars = Scalars(program, packing)
    changed = Update(scalars).words(action)
    pointers = ", ".join(f"ptr noalias %{name}" for name in ("rows", "mask", "out", "from", "hashes"))
    yield f"define internal i64 @action{number}({pointers}) {{"
    words, row_bytes = range(packing.words), packing.words * 8
    yield from (line.replace("LAST", scalars.label) for line in _NEXT_ROW)
    yield f"  %offset = mul i64 %row, {row_bytes}\n  %base = getelementptr i8, ptr %rows, i64 %offset"
    for word in words:
        yield f"  %p{word} = getelementptr i8, ptr %base, i64 {word * 8}"
        yield f"  %w{word} = load i64, ptr %p{word}, align 8"
    hashed = hash_ir([changed.get(word, f"%w{word}") for word in words], scalars.new)
    yield from scalars.text
    yield f"  %start = mul i64 %n, {row_bytes}\n  %new = getelementptr i8, ptr %out, i64 %start"
    for word in words:
        yield f"  %q{word} = getelementptr i8, ptr %new, i64 {word * 8}"
        yield f"  store i64 {changed.get(word, f'%w{word}')}, ptr %q{word}, align 8"
    yield f"  %ph = getelementptr i64, ptr %hashes, i64 %n\n  store i64 {hashed}, ptr %ph, align 8"
    yield from _differences(changed)
    yield "  %n1 = add i64 %n, %moved\n  br label %next\nend:\n  ret i64 %n\n}"


_NEXT_ROW = (
    "entry:\n  %m0 = load i64, ptr %mask, align 8\n  br label %next",
    "next:",
    "  %g = phi i64 [ 0, %entry ], [ %g1, %group ], [ %g, %LAST ]",
    "  %n = phi i64 [ 0, %entry ], [ %n, %group ], [ %n1, %LAST ]",
    "  %m = phi i64 [ %m0, %entry ], [ %m2, %group ], [ %m1, %LAST ]",
    "  %none = icmp eq i64 %m, 0\n  br i1 %none, label %over, label %step",
    "over:\n  %g1 = add i64 %g, 1",
    f"  %last = icmp eq i64 %g1, {GROUPS}\n  br i1 %last, label %end, label %group",
    "group:\n  %pm = getelementptr i64, ptr %mask, i64 %g1\n  %m2 = load i64, ptr %pm, align 8\n  br label %next",
    "step:\n  %bit = call i64 @llvm.cttz.i64(i64 %m, i1 true)",
    "  %less = sub i64 %m, 1\n  %m1 = and i64 %m, %less",
    f"  %first = mul i64 %g, {WORD}\n  %row = add i64 %first, %bit",
    "  %row32 = trunc i64 %row to i32\n  %pf = getelementptr i32, ptr %from, i64 %n",
    "  store i32 %row32, ptr %pf, align 4",
)
"""The loop over the set bits of a mask of several words: `%row` is the row, `%n` counts the successors written."""


Pending = dict[str, int]
"""Updates still to be done: the position of the new value by variable."""

Names = dict[int, str]
"""By number, the words that differ from the state before so far."""

WORTH_A_BRANCH = 10
"""Updates that one question decides about, from which on it is asked with a jump."""

DEEPEST = 2
"""Jumps within jumps; each doubles what the two sides have in common."""


class Update:
    """The new words of one action.

    Its guard holds, so what the guard says is known. Most updates depend on a few questions (did the conditional write
    succeed, is the watch set) which many of them ask again and again: those are asked once, with a jump, and each side
    computes only what is left of the updates there.
    """

    def __init__(self, scalars: Scalars) -> None:
        self._scalars = scalars
        self._program = scalars.program

    def words(self, action: Action) -> Names:
        """The name of every word in which the action may change a variable; the instructions go to the scalars."""
        places = {name: self._program.place(term) for name, term in action.updates.items()}
        known = self._program.facts(self._program.place(action.guard), 1)
        return self._done({}, self._under(places, known))

    def _under(self, pending: Pending, facts: Facts) -> Pending:
        """What is left of updates where some facts hold."""
        places = self._program.rewritten(list(pending.values()), facts)
        left = dict(zip(pending, places, strict=True))
        return {name: place for name, place in left.items() if not self._program.is_variable(place, name)}

    def _done(self, words: Names, pending: Pending, depth: int = 0) -> Names:
        """The words after the pending updates."""
        votes = Counter(
            question for place in pending.values() for question in dict.fromkeys(self._program.questions(place))
        )
        (question, count) = votes.most_common(1)[0] if votes else (0, 0)
        if count < WORTH_A_BRANCH or depth == DEEPEST:
            return self._written(words, pending)
        asking = {name: place for name, place in pending.items() if question in self._program.questions(place)}
        others = {name: place for name, place in pending.items() if name not in asking}
        return self._asked(self._done(words, others, depth), asking, question, depth + 1)

    def _asked(self, words: Names, pending: Pending, question: int, depth: int) -> Names:
        """The words after updates that a question decides about: a jump, either side, and a join."""
        scalars, test = self._scalars, self._scalars.value(question)
        labels, join = [scalars.fresh() for _ in range(2)], scalars.fresh()
        scalars.text.append(f"  br i1 {test}, label %{labels[0]}, label %{labels[1]}")
        sides = []
        for label, value in zip(labels, (1, 0), strict=True):
            with scalars.branch(label, join):
                after = self._done(words, self._under(pending, self._program.facts(question, value)), depth)
                sides.append((scalars.label, after))
        scalars.text.append(f"{join}:")
        scalars.label = join
        joined = {}
        for word in sorted(sides[0][1].keys() | sides[1][1].keys()):
            sources = [(after.get(word, f"%w{word}"), label) for label, after in sides]
            choices = ", ".join(f"[ {name}, %{label} ]" for name, label in sources)
            joined[word] = sources[0][0] if sources[0][0] == sources[1][0] else scalars.new(f"phi i64 {choices}")
        return joined

    def _written(self, words: Names, pending: Pending) -> Names:
        """The words after updates without further jumps: constants all at once, other values one by one."""
        scalars, after = self._scalars, dict(words)
        by_word: dict[int, list[tuple[Place, int]]] = {}
        for name, place in pending.items():
            where = scalars.packing.places[name]
            by_word.setdefault(where.word, []).append((where, place))
        for word, updates in by_word.items():
            cleared = sum(where.mask for where, _ in updates)
            result = scalars.new(f"and i64 {after.get(word, f'%w{word}')}, {signed(~cleared)}")
            fixed = sum(
                self._program.nodes[place].value << where.shift
                for where, place in updates
                if self._program.is_constant(place)
            )
            if fixed:
                result = scalars.new(f"or i64 {result}, {signed(fixed)}")
            for where, place in updates:
                if not self._program.is_constant(place):
                    wide = scalars.resized(scalars.value(place), where.width, WORD)
                    result = scalars.new(f"or i64 {result}, {scalars.new(f'shl i64 {wide}, {where.shift}')}")
            after[word] = result
        return after


def _differences(changed: Mapping[int, str]) -> Iterator[str]:
    """`%moved` is 1 if some word differs from what it was, else 0."""
    if not changed:
        yield "  %moved = add i64 0, 0"
        return
    yield "  %any = or i64 0, 0"
    names = ["%any", *(f"%any{word}" for word in changed)]
    for (before, after), (word, value) in zip(pairwise(names), changed.items(), strict=True):
        yield f"  %diff{word} = xor i64 {value}, %w{word}"
        yield f"  {after} = or i64 {before}, %diff{word}"
    yield f"  %differs = icmp ne i64 {names[-1]}, 0\n  %moved = zext i1 %differs to i64"
