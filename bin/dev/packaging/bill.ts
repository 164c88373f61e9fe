import { createHash } from 'node:crypto';

import { type Package, runTimePackages } from './packages.ts';

/**
 * The bill of materials of the product as CycloneDX 1.5: every package it needs at run time, with its licence and the hash that
 * the lockfile demands of it. Same packages, same bytes: no time stands in it, and its serial number is made from the rest.
 */
export function billOfMaterials(root: string, version: string): string {
  const { direct, packages } = runTimePackages(root);
  const byPath = new Map(packages.map((one) => [one.path, one]));
  const refs = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => byPath.get(path) ?? []).map(refOf);
  const own = purl('svc', version);
  const content = {
    metadata: {
      component: {
        'bom-ref': own,
        type: 'application',
        name: 'svc',
        version,
        licenses: [{ license: { id: 'Apache-2.0' } }],
        purl: own,
      },
    },
    components: packages.map(component),
    dependencies: [
      { ref: own, dependsOn: refs(direct) },
      ...packages.map((one) => ({ ref: refOf(one), dependsOn: refs(one.needs) })),
    ],
  };
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  };
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

function component(one: Package): object {
  const { name, version, licence, integrity, resolved, optional } = one;
  const slash = name.startsWith('@') ? name.indexOf('/') : -1;
  return {
    'bom-ref': refOf(one),
    type: 'library',
    ...(slash > 0 && { group: name.slice(0, slash) }),
    name: name.slice(slash + 1),
    version,
    scope: optional ? 'optional' : 'required',
    ...(integrity !== undefined && { hashes: [hashOf(integrity)] }),
    ...(licence !== undefined && {
      licenses: [/ |\(/.test(licence) ? { expression: licence } : { license: { id: licence } }],
    }),
    purl: purl(name, version),
    ...(resolved !== undefined && {
      externalReferences: [{ type: 'distribution', url: resolved }],
    }),
  };
}

/** One package may stand at two places; each is a component of its own. */
const refOf = ({ path, name, version }: Package): string =>
  path === `node_modules/${name}`
    ? purl(name, version)
    : `${purl(name, version)}#${encodeURIComponent(path)}`;

const purl = (name: string, version: string): string =>
  `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** `sha512-<base64>` as the format wants it. */
function hashOf(integrity: string): { alg: string; content: string } {
  const [algorithm = '', digest = ''] = integrity.split('-', 2);
  return {
    alg: algorithm.replace('sha', 'SHA-'),
    content: Buffer.from(digest, 'base64').toString('hex'),
  };
}

/** A UUID of the form that is free for any use, out of a hash. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
