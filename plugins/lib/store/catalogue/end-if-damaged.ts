import { isSvcError } from 'svc/sdk';

import { errors } from './errors.ts';

/**
 * Ends the thread if an error says that the catalogue is damaged while it is open. The host starts
 * the thread again, and the next opening rebuilds the catalogue. Returns whether it does.
 */
export function endIfDamaged(error: unknown): boolean {
  const cause = isSvcError(error) ? error.cause : error;
  const code = (cause as { readonly code?: unknown } | null | undefined)?.code;
  if (typeof code !== 'string' || !/^SQLITE_(?:CORRUPT|NOTADB)/.test(code)) {
    return false;
  }
  // Nobody catches it there; and no close that would seal what is damaged.
  setImmediate(() => {
    throw cause;
  });
  return true;
}

/** An error that ends the thread, for a catalogue in which something was found that no read meets. */
export const catalogueDamaged = (doubt: string): Error =>
  errors.catalogue_damaged({
    cause: Object.assign(new Error(doubt), { code: 'SQLITE_CORRUPT' }),
    retryAfterSeconds: 2,
  });

/** Lets the thread end when `work` finds the catalogue damaged; its caller is told to come back. */
export const endingIfDamaged =
  <A extends readonly unknown[], R>(work: (...given: A) => R) =>
  async (...given: A): Promise<Awaited<R>> => {
    try {
      return await work(...given);
    } catch (error) {
      throw endIfDamaged(error)
        ? errors.catalogue_damaged({ cause: error, retryAfterSeconds: 2 })
        : error;
    }
  };

interface Service {
  readonly methods: Readonly<Record<string, (...given: never[]) => unknown>>;
}

/** The same for each method of a thread's service. */
export const endingService = <S extends Service>(service: S): S => ({
  ...service,
  methods: Object.fromEntries(
    Object.entries(service.methods).map(([name, method]) => [name, endingIfDamaged(method)]),
  ),
});
