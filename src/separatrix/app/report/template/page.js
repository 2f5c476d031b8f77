"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("numbers").textContent);
  const show = (element) => { if (element) element.hidden = false; };
  const number = (text) => {
    const plain = text.trim().replace(",", ".").replace("−", "-");
    return plain === "" ? NaN : Number(plain);
  };
  const percent = (p) => {
    const rest = Math.min(p, 1 - p);
    if (rest === 0 || rest >= 0.1) return (100 * p).toFixed(0) + " %";
    if (rest < 1e-4) return p < 0.5 ? "< 0.01 %" : "> 99.99 %";
    if (p < 0.5) return (100 * p).toPrecision(2) + " %";
    return (100 * p).toFixed(Math.min(13, Math.max(0, 1 - Math.floor(Math.log10(100 * rest))))) + " %";
  };

  // ------------------------------------------------------------------------------------------------- score one row
  const softmax = (z) => {
    const top = Math.max(...z), e = z.map((s) => Math.exp(s - top)), sum = e.reduce((a, b) => a + b, 0);
    return e.map((each) => each / sum);
  };
  const linear = (W, b, x) => W.map((w, k) => w.reduce((sum, each, j) => sum + each * x[j], 0) + b[k]);
  const encode = (model, values) => {
    const x = [];
    model.columns.forEach((column, j) => {
      const value = values[j];
      if (column.kind === "number") {
        const gone = value === null;
        x.push(((gone ? column.fill : value) - column.center) / column.scale);
        if (column.missing) x.push(gone ? 1 : 0);
      } else {
        for (let level = 1; level < column.levels.length; level++) x.push(value === level ? 1 : 0);
        if (column.missing) x.push(value === -1 ? 1 : 0);
      }
    });
    return x;
  };
  const inTheLimit = (limit, x) => {
    const lead = linear(limit.direction, limit.level, x), top = Math.max(...lead);
    const size = Math.max(...limit.direction.map((u, k) =>
      u.reduce((sum, each, j) => sum + Math.abs(each * x[j]), 0) + Math.abs(limit.level[k])));
    const rest = linear(limit.rest, limit.intercept, x);
    return softmax(rest.map((s, k) => (top - lead[k] <= limit.tie * size ? s : -Infinity)));
  };
  const score = (model, values) => {
    const x = encode(model, values), z = linear(model.weights, model.intercept, x), top = Math.max(...z);
    let p = null, chosen = z.indexOf(top);
    if (model.link === "odds") p = softmax(model.shift ? z.map((s, k) => s + model.shift[k]) : z);
    if (model.link === "separated") {
      const ties = z.filter((s) => s === top).length;
      p = z.map((s) => (s === top ? 1 / ties : 0));
    }
    if (model.link === "limit") {
      p = inTheLimit(model.limit, x);
      chosen = p.indexOf(Math.max(...p));
    }
    if (p && model.shift && model.link !== "odds") {
      const moved = p.map((each, k) => each * Math.exp(model.shift[k])), sum = moved.reduce((a, b) => a + b, 0);
      p = moved.map((each) => each / sum);
    }
    return { scores: z, probabilities: p, chosen };
  };
  const form = byId("scoring");
  if (form && data.scorer.there) {
    const model = data.scorer;
    const read = () => {
      let wrong = null;
      const values = model.columns.map((column, j) => {
        const field = byId("f" + j);
        if (column.kind !== "number") return Number(field.value);
        const empty = field.value.trim() === "", value = number(field.value);
        const bad = empty ? !column.missing : !Number.isFinite(value);
        field.setAttribute("aria-invalid", String(bad));
        if (bad && wrong === null) wrong = column.name;
        return empty ? null : value;
      });
      return { values, wrong };
    };
    const update = () => {
      const { values, wrong } = read();
      if (wrong !== null) {
        byId("answer").textContent = wrong + " needs a number.";
        return;
      }
      const found = score(model, values), label = model.classes[found.chosen];
      const shown = found.probabilities || found.scores;
      model.classes.forEach((_, k) => {
        byId("p" + k).textContent = found.probabilities ? percent(shown[k]) : shown[k].toPrecision(4);
        byId("p" + k).dataset.value = String(shown[k]);
        byId("bar" + k).hidden = !found.probabilities;
        if (found.probabilities) byId("bar" + k).value = shown[k];
      });
      byId("answer").textContent = found.probabilities
        ? "Predicted: " + label + ", with a probability of " + percent(found.probabilities[found.chosen]) + "."
        : "Predicted: " + label + ".";
    };
    form.addEventListener("input", update);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(update, 0));
    show(form);
    update();
  }

  // ------------------------------------------------------------------------------------------------- the threshold
  const slider = byId("cut");
  if (slider && data.thresholds.length) {
    const [left, right, bottom, top] = data.frame, names = data.outcome;
    const place = (id, x, y) => {
      const dot = byId(id);
      if (!dot || x === null || y === null) { if (dot) dot.setAttribute("visibility", "hidden"); return; }
      dot.removeAttribute("visibility");
      dot.setAttribute("cx", (left + x * (right - left)).toFixed(2));
      dot.setAttribute("cy", (bottom + y * (top - bottom)).toFixed(2));
    };
    const over = (a, b) => (b > 0 ? a / b : null);
    const count = (n) => {
      const [whole, part] = (Number.isInteger(n) || n > 1e5 ? String(Math.round(n)) : n.toPrecision(6)).split(".");
      return whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") + (part ? "." + part : "");
    };
    const costs = () => {
      const found = ["cost-fp", "cost-fn"].map((id) => {
        const field = byId(id), value = number(field.value), bad = !(Number.isFinite(value) && value >= 0);
        field.setAttribute("aria-invalid", String(bad));
        return bad ? NaN : value;
      });
      return found.some(Number.isNaN) ? null : found;
    };
    const cell = (id, n, total) => {
      const box = byId(id), part = over(n, total);
      box.querySelector("strong").textContent = count(n);
      box.querySelector(".share").textContent = part === null ? "" : percent(part);
      box.className = "h" + Math.round(6 * (part || 0));
    };
    const move = () => {
      const [t, tp, fp, fn, tn] = data.thresholds[Number(slider.value)], all = tp + fp + fn + tn;
      const sensitivity = over(tp, tp + fn), specificity = over(tn, tn + fp), precision = over(tp, tp + fp);
      byId("cut-value").textContent = byId("confusion-at").textContent = String(t);
      slider.setAttribute("aria-valuetext", "threshold " + t);
      place("roc-dot-0", specificity === null ? null : 1 - specificity, sensitivity);
      place("pr-dot-0", sensitivity, precision);
      byId("right").textContent = count(tp + tn) + " of " + count(all);
      byId("right-share").textContent = percent((tp + tn) / all);
      cell("cell-tp", tp, tp + fn); cell("cell-fn", fn, tp + fn);
      cell("cell-fp", fp, fp + tn); cell("cell-tn", tn, fp + tn);
      const price = costs();
      const said = (p) => (p === null ? "not known" : percent(p));
      byId("at-cut").textContent =
        said(sensitivity) + " of the rows of " + names[0] + " are found (sensitivity), " + said(specificity) +
        " of the others are not flagged (specificity), and " + said(precision) + " of the alarms are right (precision). " +
        "In all " + said((tp + tn) / all) + " are right." +
        (price ? " Mistakes cost " + ((price[0] * fp + price[1] * fn) / all).toPrecision(3) + " a row." : "");
    };
    slider.addEventListener("input", move);
    byId("threshold").addEventListener("submit", (event) => event.preventDefault());
    ["cost-fp", "cost-fn"].forEach((id) => byId(id).addEventListener("input", move));
    byId("cheapest").addEventListener("click", () => {
      const price = costs();
      if (!price) return;
      let best = 0, least = Infinity;
      data.thresholds.forEach(([, , fp, fn], i) => {
        const cost = price[0] * fp + price[1] * fn;
        if (cost < least) { least = cost; best = i; }
      });
      slider.value = String(best);
      move();
    });
    show(byId("threshold"));
    move();
  }

  // --------------------------------------------------------------------------------------------- tables and files
  const save = (name, text, type) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const keep = byId("save-model");
  if (keep && byId("model-file")) {
    show(keep);
    keep.addEventListener("click", () => save(keep.dataset.name, byId("model-file").textContent.replaceAll("\\u003c", "<"), "application/json"));
  }
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, j) => {
      if (head.classList.contains("plot") || head.querySelector(".hide")) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      if (!button.textContent.trim()) button.textContent = "name";
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => {
          const cell = row.cells[j], text = cell.dataset.sort ?? cell.textContent.trim();
          const value = Number(text.replace(/[\s\u202f]/g, "").replace("−", "-"));
          return text !== "" && !Number.isNaN(value) ? value : text;
        };
        const order = (a, b) => {
          const [x, y] = [key(a), key(b)];
          if (typeof x === "number" && typeof y === "number") return x - y;
          if (typeof x === "number") return -1;
          return typeof y === "number" ? 1 : x.localeCompare(y);
        };
        const rows = [...body.rows].sort(order);
        body.append(...(down ? rows.reverse() : rows));
      });
    });
  });
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.choice:not([open])")];
    closed.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => closed.forEach((each) => { each.open = false; }));
})();
