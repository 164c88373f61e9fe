import type { Tables } from '../sdk/index.ts';
import { kyselyOver, type Line } from './sqlite/dialect.ts';
import type { DiskGuard } from './disk/disk-guard.ts';
import type { Readers, Run } from './engine/engine.ts';
import { errors } from './errors.ts';
import type { Groups } from './groups.ts';
import type { Ownership } from './ownership.ts';
import { surroundings, type Unit } from './unit.ts';

interface TablesParts {
  readonly groups: Groups;
  readonly readers: Readers;
  readonly ownership: Ownership;
  readonly guard: DiskGuard;
}

/** Gives each owner its tables: reads on this thread, writes through the shared commit. */
export class TableAccess {
  readonly #parts: TablesParts;

  constructor(parts: TablesParts) {
    this.#parts = parts;
  }

  of<T>(owner: string): Tables<T> {
    const { readers, ownership } = this.#parts;
    const check = ownership.guard(owner);
    const guarded = (run: Run): Line => ({
      run(sql, parameters) {
        check(sql, parameters);
        return run(sql, parameters);
      },
    });
    const read = guarded((sql, parameters) => readers.run(sql, parameters));
    return {
      read: kyselyOver<T>({
        ...read,
        view() {
          const view = readers.view();
          return {
            ...guarded((sql, parameters) => view.run(sql, parameters)),
            end: () => view.end(),
          };
        },
      }),
      write: (work) =>
        this.#write((unit) =>
          work(kyselyOver<T>(guarded((sql, parameters) => unit.query(sql, parameters)))),
        ),
    };
  }

  /** A write inside a write joins it; any other takes its turn, and is witnessed. */
  async #write<R>(work: (unit: Unit) => Promise<R>): Promise<R> {
    const { unit: outer, witness, reclaiming = false } = surroundings.getStore() ?? {};
    if (outer?.open === true) {
      return outer.nest(work);
    }
    const refusal = reclaiming ? undefined : this.#parts.guard.refusal;
    if (refusal !== undefined) {
      throw errors.disk_full({ cause: refusal });
    }
    let witnessed = false;
    try {
      return await this.#parts.groups.run(async (unit) => {
        const result = await work(unit);
        await witness?.beforeCommit(
          kyselyOver({ run: (sql, parameters) => unit.query(sql, parameters) }),
        );
        witnessed = true;
        return result;
      });
    } catch (error) {
      if (witnessed) {
        witness?.undone?.();
      }
      throw error;
    }
  }
}
