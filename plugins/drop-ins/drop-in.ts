import { isDeepStrictEqual } from 'node:util';

import { readPersona, readSkill } from 'svc/markdown-file';
import { isSvcError, type MaybePromise, messageOf, type Persona, type PromptSkill } from 'svc/sdk';

/** One persona or skill file, as the listing shows it. */
export interface DropInStatus {
  readonly kind: 'persona' | 'skill';
  readonly name: string;
  readonly file: string;
  /** stale: broken now, the last good version still serves. */
  readonly state: 'ok' | 'broken' | 'stale';
  readonly error?: string;
  readonly loaded_at: number | undefined;
  readonly changed_at: number;
}

export interface DropInOrigin extends Pick<DropInStatus, 'kind' | 'file'> {
  /** Name until its header is known: the file's name without `.md`, or the folder's. */
  readonly name: string;
  readonly source: Persona['source'];
  /** Id of the pack that carries it. */
  readonly pack?: string | undefined;
}

/** State of one file: its last good version, and its current error. */
export class DropIn {
  readonly #origin: DropInOrigin;
  #stamp: string | undefined;
  #fault: string | undefined;
  #good: Persona | PromptSkill | undefined;
  #loadedAt: number | undefined;
  #changedAt = 0;
  /** Why its good version does not serve: another holds the name. */
  rivalry: string | undefined;

  constructor(origin: DropInOrigin) {
    this.#origin = origin;
  }

  get kind(): DropInStatus['kind'] {
    return this.#origin.kind;
  }

  get file(): string {
    return this.#origin.file;
  }

  get source(): DropInOrigin['source'] {
    return this.#origin.source;
  }

  get pack(): string | undefined {
    return this.#origin.pack;
  }

  get good(): Persona | PromptSkill | undefined {
    return this.#good;
  }

  isAt(stamp: string): boolean {
    return this.#stamp === stamp;
  }

  /**
   * Loads the file's current content; an unreadable or broken text leaves the last good version in
   * place.
   */
  async read(stamp: string, text: () => MaybePromise<string>, now: number): Promise<void> {
    const [stampBefore, faultBefore] = [this.#stamp, this.#fault];
    try {
      const value = this.#parse(await text());
      if (!isDeepStrictEqual(value, this.#good)) {
        this.#good = value;
        this.#loadedAt = now;
      }
      this.#fault = undefined;
    } catch (error) {
      this.#fault = isSvcError(error)
        ? error.message
        : `${this.file}: cannot be read (${messageOf(error)})`;
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
      kind: this.kind,
      name: this.#good?.name ?? this.#origin.name,
      file: this.file,
      state: error === undefined ? 'ok' : serves ? 'stale' : 'broken',
      ...(error !== undefined && { error }),
      loaded_at: serves ? this.#loadedAt : undefined,
      changed_at: this.#changedAt,
    };
  }

  #parse(text: string): Persona | PromptSkill {
    const { kind, file, name, source, pack } = this.#origin;
    if (kind === 'skill') {
      return readSkill(text, name, { file });
    }
    const persona = readPersona(text, { file, source });
    return pack === undefined ? persona : { ...persona, pack };
  }
}
