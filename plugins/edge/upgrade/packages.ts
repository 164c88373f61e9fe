import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

import { SvcError } from 'svc/sdk';
import { compare } from 'semver';

import type { Part } from './byte-range.ts';

/** One agent for one architecture: `svc-<version>-<arch>`, beside it `.sha256` and, where there is one, `.sig`. */
export interface AgentPackage {
  readonly file: string;
  readonly path: string;
  readonly version: string;
  readonly arch: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly signature: string | undefined;
}

/** What an operator has put into `<data>/agent-packages`. */
export interface Packages {
  /** Throws not_found, with what there is instead, or conflict when the files do not fit each other. */
  find(version: string, arch: string): Promise<AgentPackage>;
  open(file: string): Promise<OpenPackage>;
}

export interface OpenPackage {
  readonly sizeBytes: number;
  readonly sha256: string;
  /** All of it, or a part. */
  read(part: Part | undefined): AsyncIterable<Uint8Array>;
}

const form = /^svc-(?:v?)(\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[0-9A-Za-z.]{1,64})?)-([a-z0-9_]{1,20})$/;
const largest = 512 * 1024 * 1024;
const mostShown = 20;

export function createPackages(folder: string): Packages {
  /** A large file is read once, however many ask for it, and again when it is another. */
  const digests = new Map<string, { readonly mark: string; readonly sha256: Promise<string> }>();

  async function names(): Promise<string[]> {
    try {
      return (await readdir(folder)).filter((name) => form.test(name));
    } catch {
      return [];
    }
  }

  /** A plain file of this folder, not a link that leads out of it. */
  async function plainFile(file: string): Promise<{ path: string; size: number; mark: string }> {
    const path = join(folder, file);
    const stat = form.test(file) ? await lstat(path).catch(() => undefined) : undefined;
    if (!stat?.isFile() || !(await realpath(path)).startsWith((await realpath(folder)) + sep)) {
      throw new SvcError('not_found', `there is no agent package "${file.slice(0, 80)}"`);
    }
    if (stat.size > largest || stat.size === 0) {
      throw new SvcError('conflict', `the agent package ${file} has ${stat.size} bytes; it must have some, and at most ${largest}`);
    }
    return { path, size: stat.size, mark: `${stat.size} ${stat.mtimeMs} ${stat.ino}` };
  }

  function digestOf(file: string, path: string, mark: string): Promise<string> {
    const known = digests.get(file);
    if (known?.mark === mark) {
      return known.sha256;
    }
    const sha256 = digest(path);
    digests.set(file, { mark, sha256 });
    // Read again by whoever asks next.
    sha256.catch(() => digests.delete(file));
    return sha256;
  }

  const beside = async (path: string): Promise<string | undefined> => {
    const stat = await lstat(path).catch(() => undefined);
    return stat?.isFile() && stat.size <= 4_096 ? (await readFile(path, 'utf8')).trim() : undefined;
  };

  return {
    async find(version, arch) {
      const wanted = version.replace(/^v/, '');
      const all = await names();
      const file = all.find((name) => {
        const [, itsVersion, itsArch] = form.exec(name)!;
        return itsVersion === wanted && itsArch === arch;
      });
      if (file === undefined) {
        const there = all.toSorted((a, b) => compare(form.exec(b)![1]!, form.exec(a)![1]!)).slice(0, mostShown);
        throw new SvcError(
          'not_found',
          `there is no agent package svc-${wanted}-${arch} in ${folder}; there ${there.length === 0 ? 'is none at all' : `are ${there.join(', ')}`}`,
        );
      }
      const { path, size, mark } = await plainFile(file);
      const told = /^([0-9a-f]{64})\b/i.exec((await beside(`${path}.sha256`)) ?? '')?.[1]?.toLowerCase();
      if (told === undefined) {
        throw new SvcError('conflict', `${file}.sha256 is missing, or does not begin with 64 hexadecimal digits; write one with sha256sum`);
      }
      if ((await digestOf(file, path, mark)) !== told) {
        throw new SvcError('conflict', `${file} is not what ${file}.sha256 says; copy it again`);
      }
      return { file, path, version: wanted, arch, sizeBytes: size, sha256: told, signature: await beside(`${path}.sig`) };
    },

    async open(file) {
      const { path, size, mark } = await plainFile(file);
      return {
        sizeBytes: size,
        sha256: await digestOf(file, path, mark),
        read: (part) => createReadStream(path, part && { start: part.first, end: part.last }) as AsyncIterable<Uint8Array>,
      };
    },
  };
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk as Uint8Array);
  }
  return hash.digest('hex');
}
