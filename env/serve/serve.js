"use strict";
// The pages of `trainyard serve`. They know no game: drawings and choices come from the server.
const STORY_MAX = 200; // sentences that a page keeps
const FIND_MIN = 12; // choices from which a search field helps

const words = () => new URLSearchParams(location.hash.slice(1));
const token = () => words().get("token") || "";
const link = (more) => "#" + new URLSearchParams({ token: token(), ...more });
let yard = null; // what the server told of itself
let turn = null; // the question at the table
let reading = null; // the stream of this page

function say(trouble) {
  by("trouble").textContent = trouble;
}

async function ask(path, body) {
  const headers = { Authorization: `Bearer ${token()}` };
  const options = { headers };
  if (body) {
    options.method = "POST";
    options.body = JSON.stringify(body);
    headers["Content-Type"] = "application/json";
  }
  const answer = await (await fetch(path, options)).json();
  say(answer.error || "");
  return answer.error ? null : answer;
}

function put(parent, name, text, more = {}) {
  const element = Object.assign(document.createElement(name), more);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// ---- Streams ------------------------------------------------------------------------------------

// Calls `hear(name, data)` for every event, and begins again if the connection is lost.
async function listen(query, hear) {
  const stop = (reading = new AbortController());
  while (!stop.signal.aborted) {
    try {
      const headers = { Authorization: `Bearer ${token()}` };
      const answer = await fetch(`/api/stream?${new URLSearchParams(query)}`, { headers, signal: stop.signal });
      if (!answer.ok) return say((await answer.json()).error);
      say("");
      if (await events(answer.body.getReader(), hear)) return;
    } catch {
      if (!stop.signal.aborted) say("The connection is lost; trying again.");
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

// Reads events until the stream ends; true if it is not worth beginning again.
async function events(reader, hear) {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return false;
    text += decoder.decode(value, { stream: true });
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const found = /^event: (.*)\ndata: (.*)$/.exec(text.slice(0, end));
      if (!found) continue;
      const data = JSON.parse(found[2]);
      if (found[1] === "failure") {
        say(data.message);
        return true;
      }
      hear(found[1], data);
    }
  }
}

// A board in a shadow of its own: ids and styles of other boards stay apart.
function shade(place) {
  const root = place.shadowRoot || place.attachShadow({ mode: "open" });
  root.innerHTML = `<style>
    :host { display: block; height: 100%; } div, svg { width: 100%; height: 100%; display: block; }
    g[id] { transition: transform .25s; } [data-act] > * { pointer-events: all; } [data-hover] > :is(rect, circle, path, polygon) { stroke: #0a84ff !important; stroke-width: 7px !important; }
    @media (prefers-reduced-motion: reduce) { g[id] { transition: none; } }</style><div></div>`;
  return new Board(root.querySelector("div"));
}

function redraw(board, data) {
  if (data.svg !== undefined) board.draw(data.svg);
  else data.changes.forEach((change) => board.apply(change));
}

// ---- The yard -----------------------------------------------------------------------------------

// A control for a setting, and how its value is written in a ruleset; "" if it is the standard one.
function setting(place, field) {
  const label = put(place, "label", field.key[0].toUpperCase() + field.key.slice(1).replaceAll("_", " "), { className: "field", title: field.help });
  if (field.kind === "choice" || field.kind === "file") {
    const select = put(label, "select");
    field.choices.forEach((choice) => select.add(new Option(choice.replaceAll("_", " "), choice)));
    select.selectedIndex = field.standard;
    return { field, input: select, value: () => (select.selectedIndex === field.standard ? "" : select.value) };
  }
  const flag = field.kind === "flag";
  const input = put(label, "input", undefined, { type: flag ? "checkbox" : "number", min: field.minimum, max: field.maximum });
  if (flag) input.checked = field.standard === 1;
  else input.value = field.standard;
  const now = () => (flag ? Number(input.checked) : Number(input.value));
  return { field, input, value: () => (now() === field.standard ? "" : flag ? String(input.checked) : String(now())) };
}

let settings = [];

function choose() {
  const game = yard.games[by("game").selectedIndex];
  by("fields").textContent = by("more").textContent = "";
  settings = game.fields.map((field) => {
    const plain = field.key === "players" || (field.kind === "file" && field.choices.length > 1);
    return setting(plain ? by("fields") : by("more"), field);
  });
  const players = settings.find((one) => one.field.key === "players");
  if (players) players.input.oninput = () => seats(game, Number(players.input.value));
  seats(game, players ? Number(players.input.value) : game.players);
}

function seats(game, count) {
  const place = by("seats");
  while (place.children.length > count) place.lastChild.remove();
  if (place.dataset.game !== game.game) place.textContent = "";
  place.dataset.game = game.game;
  for (let seat = place.children.length; seat < Math.min(count, 4); seat++) {
    const select = put(put(place, "label", `Seat ${seat}`, { className: "field" }), "select");
    select.add(new Option("you", "me"));
    game.agents.forEach((agent) => select.add(new Option(`agent: ${agent}`, agent)));
    select.add(new Option("somebody else, by a link", "guest"));
    select.add(new Option("a program, through the daemon", "program"));
    select.value = seat === 0 ? "me" : game.agents.includes("expert") ? "expert" : game.agents[0];
  }
}

async function order(event) {
  event.preventDefault();
  const game = yard.games[by("game").selectedIndex];
  const given = settings.map((one) => [one.field.key, one.value()]).filter(([, value]) => value !== "");
  const ruleset = game.game + (given.length ? ":" + given.map((pair) => pair.join("=")).join(",") : "");
  const taken = [...by("seats").querySelectorAll("select")].map((select) => select.value);
  const answer = await ask("/api/open", { ruleset, seats: taken });
  if (answer) location.hash = link({ table: answer.table });
}

function none(list, text) {
  if (!list.children.length) put(list, "li", text, { className: "none" });
}

function tables() {
  const list = by("tables");
  list.textContent = "";
  yard.tables.forEach((table) => {
    const item = put(list, "li");
    put(item, "b", table.ruleset);
    put(item, "small", table.seats.map((seat) => (seat.who === "me" ? "you" : seat.who)).join(", "));
    put(item, "button", "Sit down").onclick = () => (location.hash = link({ table: table.table }));
    put(item, "button", "Close").onclick = async () => {
      await ask("/api/close", { table: table.table });
      show();
    };
  });
  none(list, "No table is open.");
}

function pools() {
  const list = by("pools");
  list.textContent = "";
  yard.pools.forEach((pool) => {
    const item = put(list, "li");
    const slots = Math.min(pool.slots || 1, 12);
    put(item, "b", pool.ruleset || `pool ${pool.pool}`);
    put(item, "small", pool.slots ? `pool ${pool.pool}, ${pool.slots} slots, ${pool.decisions} decisions, ${pool.episodes} episodes` : "");
    const button = put(item, "button", pool.watch ? "Watch" : "Its director lets nobody watch", { disabled: !pool.watch });
    button.onclick = () => (location.hash = link({ pool: pool.pool, slots: [...Array(slots).keys()].join() }));
  });
  if (yard.shown) {
    const item = put(list, "li");
    put(item, "b", "Another program's board");
    put(item, "small", "");
    put(item, "button", "Watch").onclick = () => (location.hash = link({ shown: 1 }));
  }
  none(list, "The daemon has no pool that can be seen from here.");
}

function lobby() {
  const game = by("game");
  if (!game.options.length) {
    yard.games.forEach((one) => game.add(new Option(one.title, one.game)));
    choose();
  }
  tables();
  pools();
}

async function watch(event) {
  event.preventDefault();
  const pool = Number(by("watch_pool").value);
  if (await ask("/api/watch", { pool, token: by("watch_token").value.trim() })) location.hash = link({ pool, slots: "0" });
}

// ---- A table ------------------------------------------------------------------------------------

let board = null;
let seated = null; // the table as the server told of it
let picked = null; // choices of the part that was clicked

const act = (action) => ask("/api/act", { table: seated.table, action, turn: turn.turn });

// Marks the parts that stand for an action; none, if there is none.
function hover(action) {
  board.place.querySelectorAll("[data-hover]").forEach((part) => part.removeAttribute("data-hover"));
  if (action === undefined) return;
  const parts = [...board.place.querySelectorAll("[data-act]")];
  parts.filter((part) => part.dataset.act.split(" ").includes(String(action))).forEach((part) => part.setAttribute("data-hover", ""));
}

function choices() {
  const list = by("choices");
  const find = by("find").value.toLowerCase();
  const all = turn.choices;
  list.textContent = "";
  by("find").hidden = all.length < FIND_MIN;
  by("picked").hidden = !picked;
  hover();
  const fits = ([action, ...words]) => (!picked || picked.includes(action)) && words.some((word) => word.toLowerCase().includes(find));
  all.filter(fits).forEach(([action, title, name]) => {
    const button = put(put(list, "li"), "button", undefined, { title: name });
    put(button, "span", title);
    button.dataset.action = action;
    button.onclick = () => act(action);
    button.onmouseenter = () => hover(action);
    button.onmouseleave = () => hover();
    thought(button, action);
  });
}

// What search thinks of a choice: a bar between the worst and the best, and the mean.
function thought(button, action) {
  const found = turn.thoughts && turn.thoughts.find((one) => one[0] === action);
  if (!found) return;
  const means = turn.thoughts.map((one) => one[1]);
  const place = put(button, "span", undefined, { title: `${found[3]} imagined futures` });
  const low = Math.min(...means), high = Math.max(...means);
  put(place, "meter", undefined, { min: low, max: high > low ? high : low + 1, value: found[1] });
  put(place, "small", ` ${found[1].toFixed(2)} ± ${found[2].toFixed(2)}`);
}

function told(happened) {
  const story = by("story");
  const stay = story.children[0];
  (happened ? happened.events : []).forEach((event) => {
    const sentence = event.text && event.text[0].toUpperCase() + event.text.slice(1);
    if (sentence) story.insertBefore(Object.assign(document.createElement("li"), { textContent: sentence }), stay || null);
  });
  while (story.children.length > STORY_MAX) story.lastChild.remove();
}

// The score sheet: what is counted for every seat, as "total_0" and so on, has a column for each.
function result(counted) {
  const sheet = by("result");
  const rows = new Map();
  sheet.textContent = "";
  Object.entries(counted).forEach(([key, value]) => {
    const [, name, seat] = /^(.*?)(?:_(\d))?$/.exec(key);
    if (seat !== undefined && seated.seats[seat] === undefined) return;
    if (!rows.has(name)) rows.set(name, []);
    rows.get(name)[seat === undefined ? 0 : Number(seat)] = value;
  });
  const head = put(sheet, "tr");
  put(head, "th", "");
  if ([...rows.values()].some((values) => values.length > 1)) seated.seats.forEach((_, seat) => put(head, "th", `seat ${seat}`));
  rows.forEach((values, name) => {
    const row = put(sheet, "tr");
    put(row, "th", name.replaceAll("_", " "));
    values.forEach((value) => put(row, "td", value));
  });
}

function status() {
  const over = turn.acting < 0;
  const who = over ? "" : seated.seats[turn.acting] ? seated.seats[turn.acting].who : "chance";
  const line = by("status");
  line.textContent = over ? "The game is over." : turn.mine ? `Your turn: ${turn.phase}` : `Seat ${turn.acting} (${who}): ${turn.phase}`;
  line.className = turn.mine ? "mine" : "";
  by("result").hidden = !over;
  if (over) result(turn.result);
  by("think").disabled = !turn.mine;
  by("back").disabled = !turn.undo;
  by("again").hidden = !yard.owner;
  by("back").hidden = !yard.owner || !seated.private;
}

function sitting() {
  const list = by("sitting");
  list.textContent = "";
  seated.seats.forEach((seat, number) => {
    const who = seat.mine ? "you" : seat.who === "me" ? "the host" : seat.who;
    const item = put(list, "li", `Seat ${number}: ${who}`, { className: turn && turn.acting === number ? "acting" : "" });
    const address = location.origin + location.pathname;
    const text = seat.token ? `${address}#token=${seat.token}` : seat.command;
    if (text) put(item, "input", undefined, { value: text, readOnly: true, onfocus: (event) => event.target.select() });
  });
  if (seated.spectator) {
    const item = put(list, "li", "To watch:");
    const text = `${location.origin}${location.pathname}#token=${seated.spectator}`;
    put(item, "input", undefined, { value: text, readOnly: true, onfocus: (event) => event.target.select() });
  }
}

function clicked(event) {
  const part = event.composedPath().find((one) => one.dataset && one.dataset.act);
  if (!part || !turn || !turn.mine) return;
  const acts = part.dataset.act.split(" ").map(Number);
  if (acts.length === 1) {
    act(acts[0]);
    return;
  }
  picked = acts;
  by("find").value = "";
  choices();
}

function heard(name, data) {
  if (name === "board") {
    redraw(board, data);
    return;
  }
  turn = data;
  picked = null;
  by("find").value = "";
  told(data.happened);
  status();
  sitting();
  choices();
  Object.assign(by("table").dataset, { turn: turn.turn, state: turn.acting < 0 ? "over" : turn.mine ? "mine" : "theirs" });
}

function play(table) {
  seated = table;
  turn = null;
  picked = null;
  board = shade(by("board"));
  by("where").textContent = table.ruleset;
  by("story").textContent = by("choices").textContent = by("status").textContent = "";
  sitting();
  by("eyes").hidden = !yard.owner || !table.private;
  by("eyes").value = "";
  look();
}

function look() {
  if (reading) reading.abort();
  const eyes = by("eyes").value;
  listen(eyes ? { table: seated.table, eyes } : { table: seated.table }, heard);
}

// ---- A wall of boards ---------------------------------------------------------------------------

function wall(query) {
  const slots = query.shown ? ["0"] : (query.slots || "0").split(",");
  const place = by("wall");
  const boards = new Map();
  place.textContent = "";
  place.className = slots.length === 1 ? "one" : "";
  slots.forEach((slot) => {
    const frame = put(place, "div");
    put(frame, "span", query.shown ? "" : `slot ${slot}`);
    boards.set(Number(slot), shade(put(frame, "div")));
    const all = query.all || slots.join();
    frame.onclick = () => !query.shown && (location.hash = link({ pool: query.pool, slots: slots.length === 1 ? all : slot, all }));
  });
  by("where").textContent = query.shown ? "Another program's board" : `Pool ${query.pool}`;
  listen(query.shown ? { shown: 1 } : { pool: query.pool, slots: slots.join() }, (name, data) => redraw(boards.get(data.slot), data));
}

// ---- Which page ---------------------------------------------------------------------------------

function reveal(name) {
  ["yard", "table", "wall"].forEach((one) => (by(one).hidden = one !== name));
}

async function show() {
  if (reading) reading.abort();
  by("home").href = link({});
  by("where").textContent = "";
  yard = await ask("/api/yard");
  if (!yard) return reveal("");
  const query = Object.fromEntries(words());
  const table = yard.tables.find((one) => String(one.table) === query.table) || (yard.owner ? null : yard.tables[0]);
  if (table) {
    reveal("table");
    play(table);
  } else if (query.pool || query.shown) {
    reveal("wall");
    wall(query);
  } else {
    reveal("yard");
    lobby();
  }
}

by("game").onchange = choose;
by("form").onsubmit = order;
by("watch").onsubmit = watch;
by("board").onclick = clicked;
by("find").oninput = choices;
by("unpick").onclick = () => {
  picked = null;
  choices();
};
by("think").onclick = async () => {
  const asked = turn;
  by("think").disabled = true;
  by("think").textContent = "Thinking …";
  const answer = await ask("/api/think", { table: seated.table });
  by("think").textContent = "Ask search";
  by("think").disabled = !turn.mine;
  if (answer && turn === asked) {
    turn.thoughts = answer.thoughts;
    choices();
  }
};
by("back").onclick = () => ask("/api/back", { table: seated.table });
by("again").onclick = () => ask("/api/again", { table: seated.table });
by("eyes").onchange = look;
by("save").onclick = () => board.save("table.svg");
addEventListener("hashchange", show);
setInterval(async () => {
  if (by("yard").hidden || !token()) return;
  yard = (await ask("/api/yard")) || yard;
  if (!by("yard").hidden) lobby();
}, 3000);
show();
