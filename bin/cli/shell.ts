import { isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';

import { type Call, runningSvc, type Shell } from 'svc/cli';

import { systemClock, systemIds } from '../../core/boot/time.ts';
import { connect } from '../serve/connect.ts';
import { currentProduct, version } from '../product/product.ts';
import { withProgress } from '../product/with-progress.ts';

/** Does for a command what only the program can, and loads what it takes when it is asked for. */
export function shellOf({ environment }: Pick<Call, 'environment'>): Shell {
  const dataDir = async (): Promise<string> => {
    const { bootSettings } = await import('../../core/boot/settings/read-settings.ts');
    const { ajvSchemas } = await import('../../core/boot/settings/schemas.ts');
    return bootSettings(await currentProduct(), environment, { schemas: ajvSchemas }).dataDir;
  };
  const whole = once(async () => new (await import('../serve/whole-svc.ts')).WholeSvc());
  return {
    version,
    program: isSea()
      ? [process.execPath]
      : [process.execPath, fileURLToPath(new URL('../svc', import.meta.url))],
    clock: systemClock,
    ids: systemIds(systemClock),
    dataDir,
    running: async () => runningSvc(await dataDir()),
    connect,
    progress: withProgress,
    readTables: async (file, wanted) => {
      const { readForeignFile } = await import('../upkeep/foreign-file.ts');
      const { embedded } = await currentProduct();
      return readForeignFile(file, wanted, embedded?.nativeBinding);
    },
    askEmpty: async (plugins, ask, options) =>
      await (await import('../serve/small-svc.ts')).askEmptySvc(plugins, ask, options),
    askCopy: async (plugin, ask) =>
      await (await import('../upkeep/backup/copied-data.ts')).askCopy(plugin, environment, ask),
    serve: async (variables) => await (await whole()).serve(variables),
    foreground: async (start, opened) => await (await whole()).foreground(start, opened),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
