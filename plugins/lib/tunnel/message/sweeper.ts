import type { Clock } from 'svc/sdk';

/** Takes an appointment back; afterwards it does nothing. */
export type Cancel = () => void;

/** Every deadline of every session of a process, on one timer owned by the caller of `tick`. */
export interface Sweeper {
  readonly clock: Clock;
  /** Runs `work` once, in the first tick that comes `ms` or more from now. */
  after(ms: number, work: () => void): Cancel;
  /** Call it every `sweepMs`. */
  tick(): void;
  /** Appointments that are still to come. */
  readonly pending: number;
}

/** Interval of calls of `tick`, which is also the max delay of an appointment. */
export const sweepMs = 200;

const slotMs = 50;

interface Appointment {
  work: (() => void) | undefined;
}

/** Opens a sweeper; `onError` gets what an appointment throws, and the others are unaffected. */
export function openSweeper(clock: Clock, onError: (error: unknown) => void): Sweeper {
  const slots = new Map<number, Set<Appointment>>();
  let pending = 0;
  let swept = slotOf(clock.monotonic());

  const run = (slot: number): void => {
    const due = slots.get(slot);
    if (!due) {
      return;
    }
    slots.delete(slot);
    for (const appointment of due) {
      const { work } = appointment;
      // Taken back by one that ran before it in this very slot.
      if (work === undefined) {
        continue;
      }
      appointment.work = undefined;
      pending -= 1;
      try {
        work();
      } catch (error) {
        onError(error);
      }
    }
  };

  return {
    clock,
    after(ms, work) {
      const slot = Math.max(swept + 1, Math.ceil((clock.monotonic() + Math.max(0, ms)) / slotMs));
      let due = slots.get(slot);
      if (!due) {
        due = new Set();
        slots.set(slot, due);
      }
      const appointment: Appointment = { work };
      due.add(appointment);
      pending += 1;
      return () => {
        if (appointment.work !== undefined) {
          appointment.work = undefined;
          pending -= 1;
          due.delete(appointment);
          if (due.size === 0 && slots.get(slot) === due) {
            slots.delete(slot);
          }
        }
      };
    },
    tick() {
      const now = slotOf(clock.monotonic());
      // After a long sleep of the machine there are more slots in between than appointments.
      if (now - swept > slots.size) {
        const late = [...slots.keys()].filter((slot) => slot <= now).sort((a, b) => a - b);
        swept = now;
        late.forEach(run);
        return;
      }
      while (swept < now) {
        swept += 1;
        run(swept);
      }
    },
    get pending() {
      return pending;
    },
  };
}

const slotOf = (ms: number): number => Math.floor(ms / slotMs);
