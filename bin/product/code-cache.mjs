import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// By require: an import would load all that these re-export.
const { createHash } = process.getBuiltinModule('node:crypto');
const { Script } = process.getBuiltinModule('node:vm');
const { cachedDataVersionTag } = process.getBuiltinModule('node:v8');

const opening = '(function (exports, require, module, __filename, __dirname, codeCache) { ';
const closing = '\n})';

/**
 * A CommonJS text as a function of what Node gives to every such module. Its lines and columns stay those of the text. It cannot call
 * `import()`: in a script that came from a cache Node 20 does not know any more who would answer that.
 */
export const scriptOf = (text, filename, cachedData) =>
  new Script(opening + text + closing, { filename, columnOffset: -opening.length, cachedData });

/**
 * Cache of what the engine has compiled of the texts of a start, including the functions that ran,
 * for the next one: reading it takes a tenth of the time of compiling again (docs/adr/0011). One
 * file for each name of a text; without a folder nothing is cached.
 */
export class CodeCache {
  #folder;
  /** Texts of this start without a cached file, until they are written. */
  #fresh = new Map();
  #open = true;

  constructor(folder) {
    this.#folder = folder;
  }

  /**
   * Returns a head with hashes of both: the engine checks a text by its length alone, and trusts
   * the cache it reads.
   */
  functionOf(text, filename, brought) {
    if (!this.#open) {
      return undefined;
    }
    const known = this.#folder && read(fileOf(this.#folder, filename), text);
    const script = scriptOf(text, filename, known ?? brought?.());
    if (this.#folder && (known === undefined || script.cachedDataRejected)) {
      this.#fresh.set(filename, { text, script });
    }
    return script.runInThisContext();
  }

  /**
   * Writes new entries, one text per turn of the thread, and resolves with their number; a folder
   * that accepts no more ends it.
   */
  async keep() {
    this.#open = false;
    const fresh = [...this.#fresh];
    this.#fresh.clear();
    for (const [index, [filename, { text, script }]] of fresh.entries()) {
      await new Promise((resolve) => setImmediate(resolve));
      if (!write(this.#folder, fileOf(this.#folder, filename), text, script.createCachedData())) {
        return index;
      }
    }
    return fresh.length;
  }
}

const fileOf = (folder, filename) => join(folder, `${sha256(filename).slice(0, 32)}.code`);

const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/** The engine tells by the length alone whether the text is the same, and believes what it reads: so both are compared here. */
const headOf = (text, data) =>
  Buffer.from(
    `${cachedDataVersionTag()} ${process.version} ${process.arch} ${sha256(text)} ${sha256(data)}\n`,
  );

function read(file, text) {
  try {
    const content = readFileSync(file);
    const data = content.subarray(content.indexOf(10) + 1);
    return headOf(text, data).equals(content.subarray(0, content.length - data.length))
      ? data
      : undefined;
  } catch {
    // Not there yet: it is compiled.
    return undefined;
  }
}

/**
 * Writes a file; returns whether the folder accepted it: it may belong to another user, or be full.
 */
function write(folder, file, text, data) {
  const draft = `${file}.${process.pid}`;
  try {
    if (mkdirSync(folder, { recursive: true }) !== undefined) {
      chmodSync(folder, 0o755);
    }
    writeFileSync(draft, Buffer.concat([headOf(text, data), data]));
    chmodSync(draft, 0o644);
    renameSync(draft, file);
    return true;
  } catch {
    try {
      rmSync(draft, { force: true });
    } catch {
      // Where nothing could be written there is nothing to remove.
    }
    return false;
  }
}
