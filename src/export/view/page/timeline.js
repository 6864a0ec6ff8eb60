// timeline.js - playing, scrubbing, stepping; the present time is true time multiplied by the chosen speed.

const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

// An event of the model has a name and may do something; what a method tells has a kind and a sentence.
const eventText = e => e.name === undefined ? `${e.kind}: ${e.text}` : e.text ? `${e.name}: ${e.text}` : e.name;

class Timeline {
  constructor(motions, onTime) {
    this.start = Math.min(...motions.map(m => m.start));
    this.end = Math.max(...motions.map(m => m.end));
    this.times = motions[0].times;
    this.onTime = onTime;
    this.t = this.start;
    this.playing = false;
    this.again = true;
    const span = this.end - this.start;
    this.speed = span <= 0 ? 1 : span < 1.2 ? speeds.filter(s => span / s >= 2.5).pop() || 0.01 : span > 90 ? speeds.find(s => span / s <= 40) || 100 : 1;
    const select = byId('speed');
    select.append(...speeds.map(s => make('option', { value: s, textContent: `${s} ×`, selected: s === this.speed })));
    select.addEventListener('change', () => { this.speed = Number(select.value); this.onChange(); });
    this.scrub = byId('scrub');
    Object.assign(this.scrub, { min: this.start, max: span > 0 ? this.end : this.start + 1, value: this.start, disabled: !(span > 0) });
    this.scrub.addEventListener('input', () => { this.pause(); this.go(Number(this.scrub.value)); });
    ['first', 'back', 'forth', 'last', 'loop'].forEach(name => setIcon(name, name));
    setIcon('play', 'play');
    byId('play').addEventListener('click', () => this.toggle());
    byId('first').addEventListener('click', () => { this.pause(); this.go(this.start); });
    byId('last').addEventListener('click', () => { this.pause(); this.go(this.end); });
    byId('back').addEventListener('click', () => this.step(-1));
    byId('forth').addEventListener('click', () => this.step(1));
    byId('loop').addEventListener('click', () => this.setLoop(!this.again));
    for (const id of ['play', 'first', 'last', 'back', 'forth']) byId(id).disabled = !(span > 0);
    const events = [].concat(...motions.map(m => m.about.events)).sort((a, b) => a.t - b.t);
    if (span > 0) this.mark(events.slice(0, 1000), span);
    this.events = events.map(e => e.t);
    this.onChange = () => {};
  }

  // Marks of events on the bar: one of them is reached by Tab, the arrow keys go from one to the next.
  mark(events, span) {
    const holder = byId('marks'), tip = byId('mark-tip');
    holder.hidden = !events.length;
    const marks = events.map((e, k) => {
      const mark = make('button', { type: 'button', className: e.kind === 'event' ? '' : 'note', tabIndex: k ? -1 : 0, 'aria-label': `${show(e.t, 5)} s: ${eventText(e)}`,
        onclick: () => { this.pause(); this.go(e.t); this.onChange(); },
        onkeydown: event => {
          const next = marks[k + ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] || 0)];
          if (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft') return;
          event.preventDefault(); event.stopPropagation();
          if (next) { mark.tabIndex = -1; next.tabIndex = 0; next.focus(); }
        },
        onpointerenter: () => about(e), onfocus: () => about(e), onpointerleave: () => { tip.hidden = true; }, onblur: () => { tip.hidden = true; } });
      mark.style.left = `${100 * (e.t - this.start) / span}%`;
      return mark;
    });
    // What stands below the pointer, and what is too close to be told apart from it.
    const about = one => {
      const width = holder.clientWidth || 1, close = events.filter(e => Math.abs(e.t - one.t) / span * width < 5);
      tip.replaceChildren(...close.slice(0, 6).map(e => make('div', {}, named(eventText(e)), make('span', { className: 'soft', textContent: ` ${show(e.t, 5)} s` }))),
        ...(close.length > 6 ? [make('div', { className: 'soft', textContent: `and ${close.length - 6} more` })] : []));
      tip.hidden = false;
      const x = (one.t - this.start) / span * width + 8 - tip.offsetWidth / 2;
      tip.style.left = `${Math.max(0, Math.min(x, width + 16 - tip.offsetWidth))}px`;
    };
    holder.append(...marks);
  }

  go(t) {
    this.t = Math.min(this.end, Math.max(this.start, t));
    this.scrub.value = this.t;
    const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(Math.max(1e-9, this.end - this.start)))));
    byId('clock').textContent = `${this.t.toFixed(digits)} / ${this.end.toFixed(Math.max(0, digits - 1))} s`;
    this.scrub.setAttribute('aria-valuetext', `${show(this.t)} seconds`);
    this.onTime(this.t);
  }

  setLoop(on) { this.again = on; byId('loop').setAttribute('aria-pressed', String(on)); this.onChange(); }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  play() {
    if (!(this.end > this.start)) return;
    if (this.t >= this.end) this.go(this.start);
    this.playing = true;
    this.clock = null;
    byId('play').title = 'Pause (Space)';
    setIcon('play', 'pause');
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    byId('play').title = 'Play (Space)';
    setIcon('play', 'play');
    this.onChange();
  }

  // To the next or the previous sample; several at a time where the picture would hardly change.
  step(sense, many = 1) {
    this.pause();
    const t = this.times, stride = many * Math.max(1, Math.round(t.length / 600));
    const i = interval(t, this.t), near = Math.abs(t[Math.min(i + 1, t.length - 1)] - this.t) < 1e-9 * (this.end - this.start) ? i + 1 : i;
    const k = sense > 0 ? near + stride : this.t > t[near] && stride === 1 ? near : near - stride;
    this.go(t[Math.min(t.length - 1, Math.max(0, k))]);
    this.onChange();
  }

  toEvent(sense) {
    const eps = 1e-9 * (this.end - this.start);
    const next = sense > 0 ? this.events.find(t => t > this.t + eps) : this.events.filter(t => t < this.t - eps).pop();
    if (next !== undefined) { this.pause(); this.go(next); }
  }

  // Called for every picture with the browser's clock, ms.
  tick(now) {
    if (!this.playing) return;
    if (this.clock !== null) {
      let t = this.t + this.speed * Math.min(0.25, (now - this.clock) / 1000);
      if (t >= this.end) {
        if (this.again) t = this.start + (t - this.end) % (this.end - this.start);
        else { this.go(this.end); this.pause(); return; }
      }
      this.go(t);
    }
    this.clock = now;
  }
}
