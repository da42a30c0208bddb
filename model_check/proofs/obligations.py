"""What has to be proved for an invariant, cut into pieces that a solver answers quickly.

An invariant is a set of *members* (the types of the variables, lemmas, properties), each a conjunction of *clauses*.
A step can only break a clause that mentions a variable which the step changes, so all others are left out by looking
at names alone. And a clause that shares no variable with a question rarely helps to answer it, so a question is first
put with its near clauses, then with all of them.

The type invariant is derived, not written: a bit-vector whose largest value in use leaves some of its bit patterns
unused stays at or below that value, and a mathematical integer stays a natural number.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import prod

import z3

from model_check.proofs.smtlib import Problem, problem
from model_check.terms.straight_line import VARIABLE, Program
from spec.language.rules import Action, Property, TransitionSystem, Variable

TYPE_OF = "type of "
"""How the members of the type invariant are named: `type of controllers[1].at`."""

MOST_COPIES = 64
"""A disjunction is spread over the conjunctions inside it only while that makes at most so many clauses."""


@dataclass(frozen=True)
class Clause:
    """One conjunct of an invariant or one claim about a step: whose it is, and which variables it mentions."""

    owner: str
    term: z3.BoolRef
    mentions: int


class Vocabulary:
    """Which variables a term mentions, as a set of bits; what was walked for one term is kept for the next."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self._bit = {variable.name: 1 << index for index, variable in enumerate(variables)}
        self.program = Program()
        self._mentions: list[int] = []
        self._digests: list[bytes] = []

    def mentions(self, term: z3.ExprRef) -> int:
        """The set of the term's variables."""
        place = self.program.place(term)
        for node in self.program.nodes[len(self._mentions) :]:
            own = self._bit[node.name] if node.operator == VARIABLE else 0
            self._mentions.append(reduce(lambda found, at: found | self._mentions[at], node.arguments, own))
        return self._mentions[place]

    def digest(self, term: z3.ExprRef) -> bytes:
        """What the term says, by the names of its variables: the same in every system and every process."""
        place = self.program.place(term)
        for node in self.program.nodes[len(self._digests) :]:
            own = f"{node.operator} {node.width} {node.value} {node.low} {len(node.arguments)} {node.name}\n"
            self._digests.append(digest_of(own.encode(), *(self._digests[at] for at in node.arguments)))
        return self._digests[place]

    def named(self, names: Iterable[str]) -> int:
        """The set of the variables of those names."""
        return sum(self._bit[name] for name in set(names))

    def names(self, mentioned: int) -> list[str]:
        """The names in a set, in the order of the state."""
        return [name for name, bit in self._bit.items() if bit & mentioned]

    def clauses(self, owner: str, term: z3.BoolRef) -> tuple[Clause, ...]:
        """The conjuncts of a term; true ones vanish."""
        return tuple(Clause(owner, part, self.mentions(part)) for part in conjuncts(term) if not z3.is_true(part))


def conjuncts(term: z3.BoolRef) -> Iterator[z3.BoolRef]:
    """Terms whose conjunction is equivalent to the term, split as far as the outermost connectives tell."""
    inner = _as_conjunction(term)
    if inner is None:
        yield term
        return
    for part in inner:
        yield from conjuncts(part)


def _as_conjunction(term: z3.BoolRef) -> list[z3.BoolRef] | None:
    """The arguments of the conjunction that a term is, if it is one in disguise."""
    if z3.is_and(term):
        return list(term.children())
    if z3.is_not(term) and z3.is_or(term.arg(0)):
        return [_negated(child) for child in term.arg(0).children()]
    if z3.is_implies(term):
        return _as_conjunction(z3.Or(_negated(term.arg(0)), term.arg(1)))
    return _spread(list(term.children())) if z3.is_or(term) else None


def _spread(children: list[z3.BoolRef]) -> list[z3.BoolRef] | None:
    """`a or (b and c)` as `a or b`, `a or c`; several conjunctions are multiplied out while the product is small."""
    inside = {position: inner for position, child in enumerate(children) if (inner := _as_conjunction(child))}
    if not inside or prod(map(len, inside.values())) > MOST_COPIES:
        return None
    position, parts = inside.popitem()
    rest = children[:position] + children[position + 1 :]
    return [z3.Or(*rest, part) for part in parts]


def _negated(term: z3.BoolRef) -> z3.BoolRef:
    return term.arg(0) if z3.is_not(term) else z3.Not(term)


def type_terms(variables: Iterable[Variable]) -> Iterator[tuple[str, z3.BoolRef]]:
    """The type invariant: by variable name, the values in use, for each variable whose sort has more than those."""
    for variable in variables:
        kind, constant = variable.kind, z3.Const(variable.name, variable.sort)
        if z3.is_int(constant):
            yield variable.name, constant >= 0
        elif z3.is_bv(constant) and kind.maximum < (1 << kind.width) - 1:
            yield variable.name, z3.ULE(constant, kind.literal(kind.maximum))


def arbitrary_constants(system: TransitionSystem) -> tuple[str, ...]:
    """The integers that no action changes: each stands for any natural number, and its initial value means nothing.

    A specification watches one arbitrary epoch in this way; what is proved of that one is proved of all.
    """
    changed = {name for action in system.actions for name in action.updates}
    return tuple(one.name for one in system.variables if one.kind.unbounded and one.name not in changed)


def initial_terms(system: TransitionSystem) -> list[z3.BoolRef]:
    """What is true of the initial states: they are one, except for the arbitrary constants."""
    arbitrary = arbitrary_constants(system)
    terms = []
    for one in system.variables:
        constant = z3.Const(one.name, one.sort)
        terms.append(constant >= 0 if one.name in arbitrary else constant == one.kind.literal(one.initial))
    return terms


def assumed_bounds(system: TransitionSystem) -> tuple[str, ...]:
    """The names of the actions that a bound of the scope may stop: what is proved assumes that none of them is hit."""
    return tuple(action.name for action in system.actions if not z3.is_false(z3.simplify(action.overflow)))


class Step:
    """One action, seen as a way to break the clauses of an invariant."""

    def __init__(self, action: Action, system: TransitionSystem, vocabulary: Vocabulary) -> None:
        self.action = action
        self._vocabulary = vocabulary
        sorts = {variable.name: variable.sort for variable in system.variables}
        self._before = [z3.Const(name, sorts[name]) for name in action.updates]
        self.changed = vocabulary.named(action.updates)
        self._read_by = {vocabulary.named([name]): vocabulary.mentions(term) for name, term in action.updates.items()}
        self._guard_mentions = vocabulary.mentions(action.guard)

    def after(self, clauses: Iterable[Clause]) -> list[Clause]:
        """What the clauses say of the state after the step, for those that it may break."""
        touched = self.touched(clauses)
        terms = self.updated([clause.term for clause in touched]).children()
        pairs = [(clause, term) for clause, term in zip(touched, terms, strict=True) if not term.eq(clause.term)]
        return [Clause(clause.owner, term, self._mentions_after(clause)) for clause, term in pairs]

    def touched(self, clauses: Iterable[Clause]) -> list[Clause]:
        """The clauses that the step may break."""
        return [clause for clause in clauses if clause.mentions & self.changed]

    def updated(self, terms: Sequence[z3.BoolRef]) -> z3.BoolRef:
        """What the terms say, all together, of the state after the step."""
        # In one go, since z3 then walks the updates once, not once for each term.
        return substituted(conjunction(terms), self._before, list(self.action.updates.values()))

    def _mentions_after(self, clause: Clause) -> int:
        """At least what the clause mentions once the updates are put in; walking the new term would cost more."""
        read = (read for bit, read in self._read_by.items() if bit & clause.mentions)
        return reduce(int.__or__, read, clause.mentions & ~self.changed)

    def key(self, clause: Clause) -> bytes:
        """A digest of all that decides whether the step keeps a clause: its guard, the clause, the updates in it."""
        updates = (text for bit, text in self._updates if bit & clause.mentions)
        return digest_of(b"after", self._guard_digest, self._vocabulary.digest(clause.term), *updates)

    def key_of_claim(self, claim: Clause) -> bytes:
        """A digest of all that decides whether something claimed of the step is true."""
        return digest_of(b"now", self._guard_digest, self._vocabulary.digest(claim.term))

    @cached_property
    def _guard_digest(self) -> bytes:
        return self._vocabulary.digest(self.action.guard)

    @cached_property
    def _updates(self) -> list[tuple[int, bytes]]:
        """The bit of each variable that changes, and a digest of its name and its update, by the names."""
        found = sorted(self.action.updates.items())
        digest, bit_of = self._vocabulary.digest, self._vocabulary.named
        return [(bit_of([name]), digest_of(name.encode() + b"\n", digest(term))) for name, term in found]

    def claimed(self, properties: Iterable[Property]) -> list[Clause]:
        """What step properties say of this action."""
        mine = ((one.name, one.terms[self.action.name]) for one in properties if self.action.name in one.terms)
        return [Clause(name, term, self._vocabulary.mentions(term)) for name, term in mine if not z3.is_true(term)]

    def mentions(self, goals: Iterable[Clause]) -> int:
        """The variables of the guard and of some goals."""
        return reduce(lambda found, goal: found | goal.mentions, goals, self._guard_mentions)

    def near(self, hypotheses: Iterable[Clause], goals: Iterable[Clause]) -> list[Clause]:
        """The hypotheses that share a variable with the guard or a goal."""
        cone = self.mentions(goals)
        return [clause for clause in hypotheses if clause.mentions & cone]

    def question(self, hypotheses: Iterable[Clause], goals: Sequence[Clause], name: str) -> Problem:
        """Whether the action can step from a state in which the hypotheses hold and break one of the goals."""
        owners = ", ".join(dict.fromkeys(goal.owner for goal in goals))
        claim = f"A step of {self.action.name} from a state of the invariant keeps: {owners}"
        constraints = [*(clause.term for clause in hypotheses), self.action.guard, broken(goals)]
        return problem(name, claim, constraints)


def digest_of(*parts: bytes) -> bytes:
    """16 bytes that change with any of some bytes; the first says how many others there are, all as long as this."""
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()


def conjunction(terms: Sequence[z3.BoolRef]) -> z3.BoolRef:
    """All terms; as `z3.And`, which would make several more Python objects of each."""
    addresses = (z3.Ast * len(terms))(*(term.as_ast() for term in terms))
    return z3.BoolRef(z3.Z3_mk_and(z3.main_ctx().ref(), len(terms), addresses))


def substituted(term: z3.BoolRef, old: Sequence[z3.ExprRef], new: Sequence[z3.ExprRef]) -> z3.BoolRef:
    """A term with some others in place of its variables; as `z3.substitute`, which would look at the sorts of all."""
    those, others = ((z3.Ast * len(some))(*(one.as_ast() for one in some)) for some in (old, new))
    return z3.BoolRef(z3.Z3_substitute(z3.main_ctx().ref(), term.as_ast(), len(old), those, others))


def broken(goals: Sequence[Clause]) -> z3.BoolRef:
    """Some goal does not hold."""
    return z3.Not(z3.And([goal.term for goal in goals]))
