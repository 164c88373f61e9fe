import { isDeepStrictEqual } from 'node:util';

import { type DropInStatus, isSvcError, messageOf, type Persona, type PromptSkill } from '../sdk/index.ts';
import { readPersona } from './persona-file.ts';
import { readPlainFile } from './plain-file.ts';
import type { DropInRoot } from './scan.ts';
import { readSkill } from './skill-file.ts';

const maxBytes = 64 * 1024;

/** What the host knows of one dropped-in file: its last good version, and what is wrong with it now. */
export class DropIn {
  readonly root: DropInRoot;
  readonly file: string;
  readonly #fallbackName: string;
  #stamp: string | undefined;
  #fault: string | undefined;
  #good: Persona | PromptSkill | undefined;
  #loadedAt: number | undefined;
  #changedAt = 0;
  /** Why its good version does not serve: somebody else has the name. */
  rivalry: string | undefined;

  constructor(root: DropInRoot, file: string, fallbackName: string) {
    this.root = root;
    this.file = file;
    this.#fallbackName = fallbackName;
  }

  get good(): Persona | PromptSkill | undefined {
    return this.#good;
  }

  isAt(stamp: string): boolean {
    return this.#stamp === stamp;
  }

  /** Reads the file; an unreadable or broken one leaves the last good version as it is. */
  async read(stamp: string, now: number): Promise<void> {
    const [stampBefore, faultBefore] = [this.#stamp, this.#fault];
    try {
      const value = parse(this.root, this.file, this.#fallbackName, await readPlainFile(this.root.path, this.file, maxBytes));
      if (!isDeepStrictEqual(value, this.#good)) {
        this.#good = value;
        this.#loadedAt = now;
      }
      this.#fault = undefined;
    } catch (error) {
      this.#fault = isSvcError(error) ? error.message : `${this.file}: cannot be read (${messageOf(error)})`;
    }
    this.#stamp = stamp;
    if (stamp !== stampBefore || this.#fault !== faultBefore) {
      this.#changedAt = now;
    }
  }

  describe(): DropInStatus {
    const serves = this.#good !== undefined && this.rivalry === undefined;
    const error = this.#fault ?? this.rivalry;
    return {
      kind: this.root.kind,
      name: this.#good?.name ?? this.#fallbackName,
      file: this.file,
      state: error === undefined ? 'ok' : serves ? 'stale' : 'broken',
      ...(error !== undefined && { error }),
      loaded_at: serves ? this.#loadedAt : undefined,
      changed_at: this.#changedAt,
    };
  }
}

const parse = (root: DropInRoot, file: string, folderName: string, text: string): Persona | PromptSkill =>
  root.kind === 'skill' ? readSkill(text, folderName, { file }) : readPersona(text, { file, source: root.source });
