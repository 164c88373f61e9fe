/** Fractional part of the golden ratio: its multiples fall evenly into an interval, however many there are. */
const golden = 0.618_033_988_749_895;

interface Slot {
  readonly id: number;
  intervalMs: number;
  dueAt: number;
}

/** When each check is due, by a clock that never jumps, spread so that no second has many. */
export class Timetable {
  readonly #slots = new Map<number, Slot>();

  /** Puts a check in its place; one that is there already keeps it, unless its interval is another. */
  put(id: number, intervalMs: number, now: number): void {
    const known = this.#slots.get(id);
    if (known?.intervalMs === intervalMs) {
      return;
    }
    const phase = ((id * golden) % 1) * intervalMs;
    // The same place in the interval at each start of svc.
    const begins = Math.floor(now / intervalMs) * intervalMs + phase;
    this.#slots.set(id, { id, intervalMs, dueAt: begins < now ? begins + intervalMs : begins });
  }

  remove(id: number): void {
    this.#slots.delete(id);
  }

  /** Makes a check due at once; its place in the interval stays. */
  hasten(id: number, now: number): void {
    const slot = this.#slots.get(id);
    if (slot !== undefined) {
      slot.dueAt -= slot.intervalMs * Math.max(0, Math.ceil((slot.dueAt - now) / slot.intervalMs));
    }
  }

  /**
   * Returns the checks that are due, and how late they are. Intervals that have passed meanwhile are
   * left out.
   */
  due(now: number): readonly { readonly id: number; readonly lateMs: number }[] {
    const due: { id: number; lateMs: number }[] = [];
    for (const slot of this.#slots.values()) {
      if (slot.dueAt <= now) {
        due.push({ id: slot.id, lateMs: now - slot.dueAt });
        slot.dueAt += slot.intervalMs * (Math.floor((now - slot.dueAt) / slot.intervalMs) + 1);
      }
    }
    return due;
  }
}
