import { move } from '../../bin/upkeep/move/move.ts';

/** Moves the data of a folder to Postgres, for a test that kills it. */
const [dataDir, to] = process.argv.slice(2);
const product = { version: '1.0.0', root: '' };
await move({ dataDir: dataDir!, product, from: undefined, to: to!, tell: () => undefined });
