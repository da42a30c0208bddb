"""What terms become where something is already known.

Where an action is enabled, its guard holds: the program counter has one value, the session another, and much of what
the updates ask is answered. The same goes for the two sides of a branch. `Folding` is a straight-line program that can
be rewritten under such facts; rewritten nodes join the same list, equal ones once, so positions stay comparable.

Nothing here is needed for correctness, and nothing changes a value: a rewritten node equals the original one wherever
the facts hold.
"""

from collections.abc import Iterable, Mapping, Sequence

import z3

from model_check.terms.straight_line import CONSTANTS, MEANING, VARIABLE, Node, Program

Facts = Mapping[int, int]
"""Values of nodes, by position."""


class Folding(Program):
    """A program whose nodes can be rewritten under facts; rewritten nodes are appended to it."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Node, int] = {}
        self._noted = 0

    def constant(self, value: int, width: int) -> int:
        """The position of a constant."""
        return self._join(Node(z3.Z3_OP_BNUM, width, value=value))

    def is_constant(self, position: int) -> bool:
        """Whether a node has the same value in every state."""
        return self.nodes[position].operator in CONSTANTS

    def _join(self, node: Node) -> int:
        """The position of a node, which is appended if no equal one is there."""
        for position in range(self._noted, len(self.nodes)):
            self._known.setdefault(self.nodes[position], position)
        self._noted = len(self.nodes)
        position = self._known.get(node, self._noted)
        if position == self._noted:
            self.nodes.append(node)
        return position

    # ----------------------------------------------------------------------------------------------------------- facts

    def facts(self, position: int, value: int) -> dict[int, int]:
        """All that is known where a flag has a value: parts of it, what they negate, variables that equal constants."""
        found: dict[int, int] = {}
        pending = [(position, value)]
        while pending:
            position, value = pending.pop()
            node = self.nodes[position]
            found[position] = value
            if (node.operator, value) in ((z3.Z3_OP_AND, 1), (z3.Z3_OP_OR, 0)):
                pending += [(argument, value) for argument in node.arguments]
            elif node.operator == z3.Z3_OP_NOT:
                pending.append((node.arguments[0], 1 - value))
            elif node.operator == z3.Z3_OP_EQ and value:
                found |= self._equality(*node.arguments)
        return found

    def _equality(self, left: int, right: int) -> dict[int, int]:
        if self.is_constant(left):
            left, right = right, left
        return {left: self.nodes[right].value} if self.is_constant(right) else {}

    def rewritten(self, positions: Sequence[int], facts: Facts) -> list[int]:
        """The positions of nodes equal to the given ones wherever the facts hold."""
        new = {position: self.constant(value, self.nodes[position].width) for position, value in facts.items()}
        for position in self.needed_by(positions):
            if position in new:
                continue
            node = self.nodes[position]
            arguments = tuple(new[argument] for argument in node.arguments)
            new[position] = position if arguments == node.arguments else self._simpler(node, arguments)
        return [new[position] for position in positions]

    # --------------------------------------------------------------------------------------------------- simpler nodes

    def _simpler(self, node: Node, arguments: tuple[int, ...]) -> int:
        """A node with new arguments, as simple as a look at the constants among them makes it."""
        nodes = [self.nodes[argument] for argument in arguments]
        if all(one.operator in CONSTANTS for one in nodes):
            return self.constant(MEANING[node.operator](node, [one.value for one in nodes]), node.width)
        if node.operator in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            return self._junction(node, arguments, int(node.operator == z3.Z3_OP_AND))
        if node.operator == z3.Z3_OP_ITE:
            return self._choice(node, *arguments)
        if node.operator == z3.Z3_OP_NOT and nodes[0].operator == z3.Z3_OP_NOT:
            return nodes[0].arguments[0]
        if node.operator == z3.Z3_OP_EQ and arguments[0] == arguments[1]:
            return self.constant(1, 1)
        return self._join(node._replace(arguments=arguments))

    def _junction(self, node: Node, arguments: Iterable[int], neutral: int) -> int:
        """A conjunction (neutral element 1) or a disjunction (0)."""
        left = dict.fromkeys(one for one in arguments if not self._is(one, neutral))
        if any(self._is(one, 1 - neutral) for one in left):
            return self.constant(1 - neutral, 1)
        if len(left) > 1:
            return self._join(node._replace(arguments=tuple(left)))
        return next(iter(left)) if left else self.constant(neutral, 1)

    def _choice(self, node: Node, test: int, then: int, otherwise: int) -> int:
        if then == otherwise:
            return then
        if self.is_constant(test):
            return then if self.nodes[test].value else otherwise
        return self._join(node._replace(arguments=(test, then, otherwise)))

    def _is(self, position: int, value: int) -> bool:
        return self.is_constant(position) and self.nodes[position].value == value

    # ------------------------------------------------------------------------------------------------------- questions

    def is_variable(self, position: int, name: str) -> bool:
        """Whether a node is nothing but a variable."""
        node = self.nodes[position]
        return node.operator == VARIABLE and node.name == name

    def questions(self, position: int) -> tuple[int, ...]:
        """The flags that decide between the two sides of a choice: the conjuncts of its test; none for other nodes."""
        node = self.nodes[position]
        if node.operator != z3.Z3_OP_ITE:
            return ()
        test = self.nodes[node.arguments[0]]
        parts = test.arguments if test.operator in (z3.Z3_OP_AND, z3.Z3_OP_OR) else (node.arguments[0],)
        return tuple(self._positive(part) for part in parts)

    def _positive(self, position: int) -> int:
        node = self.nodes[position]
        return node.arguments[0] if node.operator == z3.Z3_OP_NOT else position
