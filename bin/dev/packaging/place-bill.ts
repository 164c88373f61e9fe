import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { billOfMaterials } from './bill.ts';
import { errors } from './errors.ts';
import { licenceProblems } from './licences.ts';
import { runTimePackages } from './packages.ts';

/** Writes the bill of materials to `file`, by one rename; a product with a package that may not be shipped gets none. */
export function placeBill(file: string, root: string, version: string): void {
  const problems = licenceProblems(runTimePackages(root).packages);
  if (problems.length > 0) {
    throw errors.licences({ problems: problems.join('\n') });
  }
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, billOfMaterials(root, version));
  renameSync(draft, file);
}
