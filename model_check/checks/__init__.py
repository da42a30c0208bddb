"""What verbs ask: each check as a run of a result document, with an estimate and a bar; and the gate, all of them."""
