import {
  appendFileSync,
  copyFileSync,
  existsSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';

export const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export type Rotation = 'rename' | 'copy' | 'none';

const generations = 50;
/**
 * Min pause: a reader that is down for longer than rotated files are kept has lost lines by design
 * of the rotation.
 */
const leastPauseMs = 500;

/** A program that writes numbered lines, often in two goes, and has its file rotated as is usual. */
export class Writer {
  readonly path: string;
  readonly #rotation: Rotation;
  #rest = '';
  #rotatedAt = performance.now();
  written = 0;
  rotations = 0;

  constructor(path: string, rotation: Rotation) {
    this.path = path;
    this.#rotation = rotation;
  }

  write(): void {
    let text = this.#rest;
    for (let i = Math.floor(Math.random() * 20); i >= 0; i--) {
      this.written += 1;
      text += `line ${this.written} ${'x'.repeat(Math.random() < 0.01 ? 3_000 : this.written % 60)}\n`;
    }
    const cut =
      Math.random() < 0.3 ? text.length - 1 - Math.floor(Math.random() * 10) : text.length;
    this.#rest = text.slice(cut);
    appendFileSync(this.path, text.slice(0, cut));
  }

  /** Rotates only between lines, as programs that reopen their file do. */
  rotatePerhaps(): void {
    if (
      this.#rotation === 'none' ||
      this.#rest !== '' ||
      Math.random() > 0.05 ||
      performance.now() - this.#rotatedAt < leastPauseMs
    ) {
      return;
    }
    this.#rotatedAt = performance.now();
    this.rotations += 1;
    rmSync(`${this.path}.${generations}`, { force: true });
    for (let i = generations - 1; i >= 1; i--) {
      if (existsSync(`${this.path}.${i}`)) {
        renameSync(`${this.path}.${i}`, `${this.path}.${i + 1}`);
      }
    }
    if (this.#rotation === 'rename') {
      renameSync(this.path, `${this.path}.1`);
    } else {
      copyFileSync(this.path, `${this.path}.1`);
      truncateSync(this.path);
    }
  }

  finish(): void {
    appendFileSync(this.path, this.#rest);
    this.#rest = '';
  }
}
