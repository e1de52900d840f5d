'use strict';
(() => {
  const svgNS = 'http://www.w3.org/2000/svg';
  const make = (name, text, cls) => {
    const e = document.createElement(name);
    if (text !== undefined) e.textContent = text;
    if (cls) e.setAttribute('class', cls);
    return e;
  };
  // The smallest of 1, 2, 5 times a power of ten that divides the span into at most so many parts.
  const niceStep = (span, parts) => {
    const raw = span / parts, p = Math.pow(10, Math.floor(Math.log10(raw)));
    for (const m of [1, 2, 5]) if (m * p >= raw * (1 - 1e-9)) return m * p;
    return 10 * p;
  };

  // Paper has nothing to click on: what explains the results is printed open.
  let opened = [];
  window.addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('.more details:not([open]), details.data:not([open])')];
    for (const d of opened) d.open = true;
  });
  window.addEventListener('afterprint', () => { for (const d of opened) d.open = false; });

  for (const section of document.querySelectorAll('[data-section]')) start(section);

  function start(section) {
    const read = cls => JSON.parse(section.querySelector('script.' + cls).textContent);
    const data = read('chart-data');
    const width = data.width * 1000, whole = width * data.n;
    const charts = (data.charts || []).map(c => {
      const figure = document.getElementById(c.id);
      return {c, figure, plot: figure.querySelector('.plot'), dots: figure.querySelector('.dots'),
        hit: figure.querySelector('.hit'), drag: figure.querySelector('.drag'),
        readout: figure.querySelector('.readout'), summary: figure.querySelector('.readout').textContent};
    });
    const plots = [...section.querySelectorAll('.plot')];
    const state = {lo: 0, hi: whole, at: -1};
    const seconds = i => (i * width / 1000).toFixed(data.decimals);
    const when = i => '+' + seconds(i) + ' to +' + seconds(i + 1) + ' s';

    function cursor(i) {
      state.at = i < 0 ? -1 : Math.min(i, data.n - 1);
      for (const plot of plots) {
        const line = plot.querySelector('.cursor');
        line.setAttribute('visibility', state.at < 0 ? 'hidden' : 'visible');
        if (state.at >= 0) line.setAttribute('transform', 'translate(' + (state.at + .5) * width + ' 0)');
      }
      for (const chart of charts) show(chart, state.at);
    }

    function show({c, dots, readout, summary}, i) {
      dots.replaceChildren();
      if (i < 0) { readout.textContent = summary; return; }
      const items = [make('span', when(i), 'when')];
      c.names.forEach((name, k) => {
        const item = make('span', undefined, 'item');
        item.append(make('span', name), make('b', c.text[k][i]));
        items.push(item);
        const y = c.heights[k][i];
        if (y < 0) return;
        const dot = document.createElementNS(svgNS, 'path');
        dot.setAttribute('d', 'M' + (i + .5) * width + ' ' + y + 'h0.01');
        dot.setAttribute('class', c.styles[k]);
        dots.append(dot);
      });
      readout.replaceChildren(...items);
    }

    function zoom(lo, hi) {
      const span = Math.max(Math.min(hi - lo, whole), Math.min(4 * width, whole));
      state.lo = Math.max(0, Math.min(lo, whole - span));
      state.hi = state.lo + span;
      for (const plot of plots) {
        const box = plot.getAttribute('viewBox').split(' ');
        plot.setAttribute('viewBox', state.lo + ' 0 ' + span + ' ' + box[3]);
      }
      section.querySelectorAll('.lane text, .over text').forEach(place);
      section.querySelectorAll('.xs').forEach(ticks);
    }

    // A label stays at its place, or at the edge while its stretch of time reaches into view.
    function place(label) {
      const x = +label.dataset.x, until = +label.dataset.until, span = state.hi - state.lo;
      const end = label.getAttribute('text-anchor') === 'end';
      const seen = until > state.lo && +label.dataset.from < state.hi;
      const shown = end ? Math.min(x, state.hi) : Math.max(x, state.lo);
      label.setAttribute('x', 100 * (shown - state.lo) / span + '%');
      const room = (Math.min(until, state.hi) - shown) / span * label.ownerSVGElement.clientWidth;
      const fits = !('fit' in label.dataset) || label.getComputedTextLength() + 10 <= room;
      label.setAttribute('visibility', seen && shown <= state.hi && fits ? 'visible' : 'hidden');
    }

    function ticks(axis) {
      const span = state.hi - state.lo, step = niceStep(span, axis.clientWidth < 520 ? 6 : 12);
      const decimals = Math.max(0, -Math.floor(Math.log10(step / 1000) + 1e-9));
      axis.replaceChildren();
      for (let k = Math.ceil(state.lo / step - 1e-9); k * step <= state.hi * (1 + 1e-9); k++) {
        const share = (k * step - state.lo) / span, text = document.createElementNS(svgNS, 'text');
        text.textContent = (k * step / 1000).toFixed(decimals) + ' s';
        text.setAttribute('x', 100 * share + '%');
        text.setAttribute('y', 13);
        text.setAttribute('text-anchor', share < .015 ? 'start' : share > .985 ? 'end' : 'middle');
        axis.append(text);
      }
    }

    // keep moves the view so that the cursor is in it.
    function keep() {
      const x = (state.at + .5) * width, span = state.hi - state.lo;
      if (x < state.lo || x > state.hi) zoom(x - span / 2, x + span / 2);
    }

    function scale(factor) {
      const x = state.at < 0 ? (state.lo + state.hi) / 2 : (state.at + .5) * width;
      const share = (x - state.lo) / (state.hi - state.lo), span = (state.hi - state.lo) * factor;
      zoom(x - share * span, x + (1 - share) * span);
    }

    const keys = {
      ArrowRight: e => cursor(state.at < 0 ? 0 : state.at + (e.shiftKey ? 10 : 1)),
      ArrowLeft: e => cursor(state.at < 0 ? data.n - 1 : Math.max(0, state.at - (e.shiftKey ? 10 : 1))),
      Home: () => cursor(0), End: () => cursor(data.n - 1),
      '+': () => scale(.5), '=': () => scale(.5), '-': () => scale(2),
      0: () => zoom(0, whole), Escape: () => cursor(-1),
    };

    for (const chart of charts) {
      const {figure, hit, drag} = chart;
      const x = e => {
        const r = hit.getBoundingClientRect();
        return state.lo + (state.hi - state.lo) * Math.min(1, Math.max(0, (e.clientX - r.left) / r.width));
      };
      let from = null;
      hit.addEventListener('pointerdown', e => {
        if (e.button !== 0) return;
        from = x(e);
        hit.setPointerCapture(e.pointerId);
        figure.focus({preventScroll: true});
        e.preventDefault();
      });
      hit.addEventListener('pointermove', e => {
        const to = x(e);
        cursor(Math.floor(to / width));
        if (from === null) return;
        drag.setAttribute('visibility', 'visible');
        drag.setAttribute('x', Math.min(from, to));
        drag.setAttribute('width', Math.abs(to - from));
      });
      const end = e => {
        drag.setAttribute('visibility', 'hidden');
        if (from === null) return;
        const to = x(e), lo = Math.min(from, to), hi = Math.max(from, to);
        from = null;
        if (e.type === 'pointerup' && hi - lo > (state.hi - state.lo) * .01) zoom(lo, hi);
      };
      hit.addEventListener('pointerup', end);
      hit.addEventListener('pointercancel', end);
      hit.addEventListener('pointerleave', () => { if (from === null && document.activeElement !== figure) cursor(-1); });
      hit.addEventListener('dblclick', () => zoom(0, whole));
      figure.addEventListener('keydown', e => {
        if (e.target !== figure || e.ctrlKey || e.altKey || e.metaKey || !(e.key in keys)) return;
        keys[e.key](e);
        if (state.at >= 0 && e.key !== '0') keep();
        e.preventDefault();
      });
      const details = figure.querySelector('details.table');
      details.addEventListener('toggle', () => fill(details.querySelector('.scroll'), chart.c), {once: true});
    }

    function fill(box, c) {
      const table = make('table'), head = make('tr');
      ['from', ...c.names].forEach(n => { const th = make('th', n); th.scope = 'col'; head.append(th); });
      table.append(head);
      for (let i = 0; i < data.n; i++) {
        const row = make('tr');
        row.append(make('td', '+' + seconds(i) + ' s'));
        c.names.forEach((_, k) => row.append(make('td', c.text[k][i])));
        table.append(row);
      }
      box.replaceChildren(table);
    }

    for (const link of section.querySelectorAll('a.show')) {
      link.addEventListener('click', e => {
        e.preventDefault();
        if (!charts.length) return;
        if (link.dataset.from !== undefined) {
          const lo = link.dataset.from * 1000, hi = link.dataset.until * 1000, pad = Math.max((hi - lo) * .15, 4 * width);
          zoom(lo - pad, hi + pad);
        } else zoom(0, whole);
        cursor(Math.max(0, Math.floor(link.dataset.at * 1000 / width + 1e-6)));
        keep();
        section.querySelector('.strip').scrollIntoView({block: 'start'});
        charts[0].figure.focus({preventScroll: true});
      });
    }

    const save = (name, type, text) => {
      const a = make('a');
      a.href = URL.createObjectURL(new Blob([text], {type}));
      a.download = name;
      a.click();
      setTimeout(() => URL.revokeObjectURL(a.href), 1000);
    };
    const quote = s => '"' + s.replaceAll('"', '""') + '"';
    section.querySelector('[data-download=verdict]').addEventListener('click', () =>
      save('verdict.json', 'application/json', JSON.stringify(read('verdict-data'), null, 2)));
    section.querySelector('[data-download=series]').addEventListener('click', () => {
      const lines = [['from', 'until', 'chart', 'series', 'value'].join(',')];
      for (const {c} of charts) c.names.forEach((name, k) => c.text[k].forEach((text, i) =>
        lines.push([seconds(i), seconds(i + 1), quote(c.id), quote(name), quote(text)].join(','))));
      save('series.csv', 'text/csv', lines.join('\n') + '\n');
    });
    // Narrow windows have room for fewer labels; paper has its own width.
    const fit = () => { if (whole > 0) zoom(state.lo, state.hi); };
    window.addEventListener('resize', fit);
    fit();
  }
})();
