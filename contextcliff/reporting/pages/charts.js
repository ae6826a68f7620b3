"use strict";
const at = id => document.getElementById(id);

async function unpacked(id) {
  const text = atob(at(id).textContent), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

// ---------------------------------------------------------------- charts

function painted(value, style) {
  if (typeof value === "string") return /^@[a-z]+$/.test(value) ? style.getPropertyValue("--" + value.slice(1)).trim() || value : value;
  if (Array.isArray(value)) return value.map(each => painted(each, style));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, painted(v, style)]));
  return value;
}

// Neighbouring lengths can lie closer than their numbers are wide.
function legible(axis, width) {
  if (!axis || axis.type !== "log" || !axis.tickvals || axis.tickvals.length < 2) return axis;
  const at = axis.tickvals.map(Math.log), pixels = width / Math.max(1e-9, at[at.length - 1] - at[0]);
  const kept = [];
  for (let i = at.length - 1; i >= 0; i--)
    if (!kept.length || (at[kept[0]] - at[i]) * pixels > 12 + 7 * axis.ticktext[kept[0]].length) kept.unshift(i);
  return { ...axis, tickvals: kept.map(i => axis.tickvals[i]), ticktext: kept.map(i => axis.ticktext[i]), tickangle: 0 };
}

function drawChart(place, chart) {
  const style = getComputedStyle(document.documentElement);
  const { margin, ...rest } = chart.layout;
  const narrow = place.clientWidth < 560;
  const layout = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", showlegend: chart.traces.length > 1,
    font: { family: "system-ui, sans-serif", size: narrow ? 11 : 13, color: "@ink" },
    hoverlabel: { bgcolor: "@paper", bordercolor: "@muted", font: { color: "@ink" }, align: "left", namelength: -1 },
    legend: { orientation: "h", y: -75 / (place.clientHeight - 90), yanchor: "top", x: 0 }, ...rest,
    xaxis: legible(rest.xaxis, place.clientWidth - (narrow ? 60 : 100)),
    margin: { l: narrow ? 40 : 60, r: narrow ? 8 : 24, t: 16, b: 56, ...margin } };
  return Plotly.react(place, painted(chart.traces, style), painted(layout, style), { responsive: true, displaylogo: false, displayModeBar: false });
}

async function loadLibrary() {
  const code = document.createElement("script");
  code.textContent = await unpacked("plotly");
  document.head.append(code);
}

async function drawCharts(charts) {
  await loadLibrary();
  const places = [...document.querySelectorAll("figure.chart")].filter(place => charts[place.dataset.chart]);
  const drawn = new Set();
  // A chart in a folded section has no width until it is opened.
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) if (entry.isIntersecting && !drawn.has(entry.target)) {
      drawn.add(entry.target);
      drawChart(entry.target, charts[entry.target.dataset.chart]);
    }
  }, { rootMargin: "600px" });
  places.forEach(place => seen.observe(place));
  const again = () => drawn.forEach(place => drawChart(place, charts[place.dataset.chart]));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  // Paper is white.
  addEventListener("beforeprint", () => places.forEach(place => { drawn.add(place); drawChart(place, charts[place.dataset.chart]); }));
}

// Hands the unpacked data over; a browser that can't unpack it says so.
async function shown(show) {
  try {
    await show(JSON.parse(await unpacked("data")));
    document.body.dataset.ready = "charts";
  } catch (error) {
    at("trouble").hidden = false;
    at("trouble").textContent = "This browser could not unpack charts and samples (" + error.message + "); the answer and the tables are all here.";
  }
}
