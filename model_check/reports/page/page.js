"use strict";
document.documentElement.classList.add("with-script");

// A table is sorted by the column whose head is clicked, and the other way round by a second click.
for (const table of document.querySelectorAll("table.sortable")) {
  table.tHead.addEventListener("click", (event) => {
    const head = event.target.closest("th"), body = table.tBodies[0];
    if (!head) return;
    const down = head.dataset.order === "up", column = head.cellIndex;
    const value = (row) => row.cells[column].textContent.trim();
    const number = (text) => Number.parseFloat(text.replaceAll(",", ""));
    const compare = (a, b) => (head.classList.contains("number") ? (number(a) || 0) - (number(b) || 0) : a.localeCompare(b));
    const rows = [...body.rows].sort((a, b) => compare(value(a), value(b)) * (down ? -1 : 1));
    head.dataset.order = down ? "down" : "up";
    body.append(...rows);
  });
}

// A step of a story is chosen by the arrow keys, by the slider, or by a click; the state before and after it is shown.
for (const story of document.querySelectorAll(".story")) {
  const data = JSON.parse(story.querySelector("script[type='application/json']").textContent);
  const slider = story.querySelector("input[type=range]"), whole = story.querySelector("input[type=checkbox]");
  const panel = story.querySelector(".state"), bar = story.querySelector("rect.chosen");
  const items = [...story.querySelectorAll(".steps li")], words = [...story.querySelectorAll(".words li")];
  const last = items.length - 1;
  let chosen = -1;

  const before = (step) => {
    const state = new Map(Object.entries(data.initial));
    for (const one of data.steps.slice(0, Math.max(step - 1, 0))) {
      for (const [variable, , value] of one.changes) state.set(variable, value);
    }
    return state;
  };

  // Why the other actions were not possible in place of the chosen step: each reason once, with its actions.
  const rest = panel.querySelector(".rest"), actions = [...story.querySelectorAll(".possibilities tbody tr")];
  const spans = actions.map((row) => [...row.querySelectorAll("li")].map((one) => ({
    first: Number(one.dataset.first), last: Number(one.dataset.last), why: one.querySelector("span").textContent })));
  const showRest = () => {
    const number = chosen > 0 ? words[chosen - 1].value : 0, reasons = new Map();
    actions.forEach((row, place) => {
      const span = spans[place].find((one) => one.first <= number && number <= one.last);
      if (!span || span.why === "possible") return;
      reasons.set(span.why, [...(reasons.get(span.why) ?? []), row.cells[0].textContent]);
    });
    rest.hidden = !reasons.size;
    const others = [...reasons.values()].flat().length;
    rest.querySelector("summary").textContent = `why ${others} ${others === 1 ? "other was" : "others were"} not possible`;
    rest.querySelector("ul").replaceChildren(...[...reasons].map(([why, names]) => {
      const item = document.createElement("li");
      item.append(`${why}: `, Object.assign(document.createElement("code"), { textContent: names.join(", ") }));
      return item;
    }));
  };

  const cell = (row, text) => (row.insertCell().textContent = text);

  const show = () => {
    const changed = new Map(chosen > 0 ? data.steps[chosen - 1].changes.map((one) => [one[0], one]) : []);
    const state = whole.checked || chosen === 0 ? before(chosen) : new Map();
    const names = [...changed.keys(), ...[...state.keys()].filter((name) => !changed.has(name))];
    const body = panel.querySelector("tbody");
    body.replaceChildren();
    for (const name of names) {
      const row = body.insertRow(), [, old, value] = changed.get(name) ?? [name, state.get(name), state.get(name)];
      row.className = changed.has(name) ? "changed" : "same";
      for (const text of [name, old, value]) cell(row, text);
    }
    panel.querySelector(".what").replaceChildren(...(chosen > 0 ? [...words[chosen - 1].cloneNode(true).childNodes]
      .filter((node) => !node.classList?.contains("change")) : ["The initial state."]));
    showRest();
    panel.hidden = false;
  };

  const choose = (step) => {
    const next = Math.min(Math.max(step, 0), last);
    items[chosen]?.classList.remove("chosen");
    chosen = next;
    items[chosen].classList.add("chosen");
    bar.style.visibility = "visible";
    bar.setAttribute("y", String(Number(story.dataset.head) + Number(story.dataset.row) * chosen));
    slider.value = String(chosen);
    story.dataset.chosen = String(chosen);
    show();
  };

  const keys = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 };
  story.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.target.type === "checkbox") return;
    event.preventDefault();
    choose(chosen + keys[event.key]);
    items[chosen].scrollIntoView({ block: "nearest" });
  });
  slider.addEventListener("input", () => choose(Number(slider.value)));
  whole.addEventListener("change", show);
  for (const item of items) item.addEventListener("click", () => choose(Number(item.dataset.step)));
}
