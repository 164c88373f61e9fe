// `npm run sbom [-- --out <file>]`: lists the components of the product, with licences, as
// CycloneDX.
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { messageOf } from '../../core/sdk/index.ts';
import { placeBill } from './packaging/place-bill.ts';
import { version } from '../product/product.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

try {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: join(root, 'dist', 'svc.cdx.json') } },
  });
  const out = resolve(values.out);
  placeBill(out, root, version);
  process.stdout.write(`${out}\n`);
} catch (error) {
  process.stderr.write(`npm run sbom: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
