import { currentPin } from '../registry/index.ts';
import { messageOf } from '../sdk/index.ts';
import { banner } from './banner.ts';
import { type House, startHouse } from './house.ts';
import type { Product } from './product.ts';
import type { Environment } from './settings.ts';

/** Runs the house in the foreground until a signal ends it; resolves with the exit code, rejects when it cannot start. */
export async function serve(product: Product, environment: Environment): Promise<number> {
  const began = performance.now();
  const stopped = deferred<number>();
  let house: House | undefined;
  const stop = (reason: string, code: number): void => {
    if (!house) {
      stopped.resolve(code);
      return;
    }
    house.stop(reason).then(
      () => stopped.resolve(code),
      (error: unknown) => {
        process.stderr.write(`svc: stopping was not clean: ${messageOf(error)}\n`);
        stopped.resolve(1);
      },
    );
  };
  let asked = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (asked) {
        process.exit(130);
      }
      asked = true;
      stop(signal, 0);
    });
  }
  attributeCrashes(
    () => house,
    (reason) => stop(reason, 1),
  );
  house = await startHouse({ product, environment });
  process.stderr.write(banner(product, house, Math.round(performance.now() - began)));
  if (asked) {
    stop('stopped while starting', 0);
  }
  return await stopped.promise;
}

/** An error that nobody caught: a plugin's goes on its account, the house's own ends the process in order. */
function attributeCrashes(house: () => House | undefined, stop: (reason: string) => void): void {
  const onError = (error: unknown): void => {
    const owner = currentPin()?.owner;
    if (owner && house()) {
      house()?.host.strike(owner, 'uncaught error', error);
      return;
    }
    process.stderr.write(`svc: an error that nobody caught; stopping. ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    stop('uncaught error');
  };
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onError);
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve };
}
