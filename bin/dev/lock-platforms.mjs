// `npm run lock-platforms`: names in package-lock.json the optional packages for other platforms, which a registry mirror may
// not carry: without their names "npm ci" refuses the lockfile, with them it skips what this platform does not need.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = [
  'arm64',
  'arm',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

/** Optional dependencies of locked packages that the lockfile does not name, as `[path, entry]`. */
export function missingPlatforms({ packages }) {
  const missing = new Map();
  for (const { dev, license, optionalDependencies = {} } of Object.values(packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const path = `node_modules/${name}`;
      if (packages[path] === undefined && /^\d+\.\d+\.\d+/.test(version)) {
        missing.set(path, entryOf(name, version, { dev, license }));
      }
    }
  }
  return [...missing];
}

function entryOf(name, version, { dev, license }) {
  const words = name.split(/[/-]/);
  const file = name.split('/').at(-1);
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.filter((word) => processors.includes(word));
  return {
    version,
    resolved: `https://registry.npmjs.org/${name}/-/${file}-${version}.tgz`,
    ...(cpu.length > 0 && { cpu }),
    // As the package that names them.
    ...(dev && { dev }),
    ...(license !== undefined && { license }),
    optional: true,
    ...(os.length > 0 && { os }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL('../../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(file, 'utf8'));
  const missing = missingPlatforms(lock);
  const packages = Object.entries(lock.packages).concat(missing);
  lock.packages = Object.fromEntries(packages.sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
  console.log(`added ${missing.length} packages of other platforms`);
}
