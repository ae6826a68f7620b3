"use strict";
const at = id => document.getElementById(id);
const PAGE = 50;

// Text of models and documents goes in as text, and never as markup.
function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

const whole = value => value === null ? "" : value.toLocaleString("en-US");

function detailsOf(sample) {
  const list = element("dl");
  const add = (name, ...what) => { const box = element("dd"); box.append(...what); list.append(element("dt", name), box); };
  const text = value => { const box = element("div", value, "text"); box.dir = "auto"; return box; };
  add("sample", sample.id);
  add("question", text(sample.question));
  if (sample.answers.length) add(sample.answers.length > 1 ? "accepted answers" : "accepted answer", ...sample.answers.map(text));
  const said = sample.output === null ? sample.prediction : sample.output;
  add("the model said", text(said || (sample.score === null ? "nothing: there is no answer" : "nothing")));
  if (sample.output !== null && sample.prediction && sample.prediction !== sample.output) add("taken as its answer", text(sample.prediction));
  if (sample.reasoning) {
    const thought = element("details"), tokens = sample.reasoning_tokens;
    thought.append(element("summary", tokens === null ? whole(sample.reasoning.length) + " characters" : whole(tokens) + " tokens"), text(sample.reasoning));
    add("it thought before", thought);
  } else if (sample.reasoning_tokens) add("it thought before", whole(sample.reasoning_tokens) + " tokens, which the server keeps");
  sample.excerpts.forEach(([before, evidence, after]) => {
    const box = element("div", null, "text");
    box.dir = "auto";
    box.append(element("span", before ? "…" + before : "", "around"), element("mark", evidence), element("span", after ? after + "…" : "", "around"));
    add("evidence", box);
  });
  if (sample.ttft_ms !== null) add("first token", (sample.ttft_ms / 1000).toFixed(2) + " s, whole answer " + (sample.latency_ms / 1000).toFixed(2) + " s");
  if (sample.document) add("document", sample.document);
  if (sample.prompt !== null) {
    const prompt = element("details");
    prompt.append(element("summary", whole(sample.prompt.length) + " characters"), text(sample.prompt));
    add("prompt", prompt);
  }
  return list;
}

function outcomeOf(sample) {
  if (sample.score === null) return "unscored";
  return sample.failure === null ? "no failure" : "a failure";
}

function listSamples({ columns, rows }) {
  const samples = rows.map(row => Object.fromEntries(columns.map((name, i) => [name, row[i]])));
  // What went wrong is what is read; a sort keeps the order of equals.
  const rank = sample => sample.score === null ? 1 : sample.failure !== null || sample.score < 1 ? 0 : 2;
  samples.sort((a, b) => rank(a) - rank(b));
  const counted = values => [...values.reduce((all, value) => all.set(value, (all.get(value) || 0) + 1), new Map())];
  const fill = (id, values) => {
    at(id).append(new Option("all", ""));
    values.forEach(([value, count]) => at(id).append(new Option(value + " (" + whole(count) + ")", value)));
  };
  const tags = counted(samples.filter(s => s.failure !== null).map(s => s.failure)).sort((a, b) => b[1] - a[1]);
  fill("outcome", [...counted(samples.map(outcomeOf)), ...tags.map(([tag, count]) => ["failure: " + tag, count])]);
  const numbers = name => counted(samples.filter(s => s[name] !== null).map(s => String(s[name]))).sort((a, b) => a[0] - b[0]);
  const many = numbers("asked").length > 60;
  // Documents have lengths of their own: octaves then.
  const lengthOf = sample => many ? "up to " + whole(2 ** Math.ceil(Math.log2(Math.max(1, sample.tokens)))) : String(sample.asked);
  const order = value => Number(value.replace(/\D/g, ""));
  fill("length", counted(samples.map(lengthOf)).sort((a, b) => order(a[0]) - order(b[0])));
  fill("depth", numbers("depth"));
  at("depth").parentElement.hidden = !numbers("depth").length;
  let found = samples, first = 0;
  const fits = sample => {
    const outcome = at("outcome").value, words = at("text").value.toLowerCase();
    return (!outcome || outcome === outcomeOf(sample) || outcome === "failure: " + sample.failure)
      && (!at("length").value || at("length").value === lengthOf(sample))
      && (!at("depth").value || at("depth").value === String(sample.depth))
      && (!words || [sample.question, sample.prediction, sample.output, ...sample.answers].some(text => text && text.toLowerCase().includes(words)));
  };
  const show = () => {
    const body = at("rows").tBodies[0];
    body.replaceChildren(...found.slice(first, first + PAGE).map(sample => {
      const row = element("tr", null, "sample");
      row.tabIndex = 0;
      row.append(element("td", sample.score === null ? "-" : sample.score.toFixed(2), "n"), element("td", whole(sample.asked), "n"),
        element("td", whole(sample.tokens), "n"), element("td", sample.depth === null ? "" : +sample.depth.toFixed(3), "n"),
        element("td", sample.failure || ""), element("td", (sample.prediction || sample.output || "").slice(0, 160), "said"));
      const toggle = () => {
        if (row.classList.toggle("open")) {
          const detail = element("tr"), box = element("td", null, "detail");
          box.colSpan = 6;
          box.append(detailsOf(sample));
          detail.append(box);
          row.after(detail);
        } else row.nextSibling.remove();
      };
      row.addEventListener("click", toggle);
      row.addEventListener("keydown", event => { if (event.key === "Enter") toggle(); });
      return row;
    }));
    at("count").textContent = whole(found.length) + " of " + whole(samples.length);
    const last = Math.min(first + PAGE, found.length);
    at("page").textContent = found.length ? whole(first + 1) + " to " + whole(last) : "";
    at("earlier").disabled = first === 0;
    at("later").disabled = last >= found.length;
  };
  const filter = () => { found = samples.filter(fits); first = 0; show(); };
  ["outcome", "length", "depth"].forEach(id => at(id).addEventListener("change", filter));
  at("text").addEventListener("input", filter);
  at("earlier").addEventListener("click", () => { first = Math.max(0, first - PAGE); show(); });
  at("later").addEventListener("click", () => { first += PAGE; show(); });
  show();
}

listSamples(JSON.parse(at("data").textContent));
document.body.dataset.ready = "samples";
