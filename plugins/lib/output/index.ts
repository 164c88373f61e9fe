import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

const maxLine = 2_000;
const bytesPerSecond = 64 * 1024;

/**
 * Passes on what a child prints, line by line. A child that prints faster than the log may take waits at its pipe,
 * so it can neither fill the log nor the memory of the host.
 */
export function eachLine(stream: Readable, onLine: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let line = '';
  let budget = bytesPerSecond;
  let pause: NodeJS.Timeout | undefined;

  const take = (text: string): void => {
    const parts = text.split('\n');
    parts.forEach((part, at) => {
      line = `${line}${part}`.slice(0, maxLine);
      if (at < parts.length - 1) {
        pass();
      }
    });
  };
  const pass = (): void => {
    const whole = line.trimEnd();
    line = '';
    if (whole !== '') {
      onLine(whole);
    }
  };
  stream.on('data', (chunk: Buffer) => {
    take(decoder.write(chunk));
    budget -= chunk.length;
    if (budget <= 0) {
      stream.pause();
      pause = setTimeout(() => {
        budget = bytesPerSecond;
        stream.resume();
      }, 1_000);
      pause.unref();
    }
  });
  stream.on('close', () => {
    clearTimeout(pause);
    take(decoder.end());
    pass();
  });
}

/** Hands on what a child prints as it comes, one piece at a time: while a piece is not taken the child waits at its pipe. */
export function eachChunk(
  stream: Readable,
  take: (chunk: Uint8Array) => unknown,
  failed: (error: unknown) => void,
): void {
  stream.on('data', (chunk: Buffer) => {
    stream.pause();
    void (async () => await take(chunk))().then(() => stream.resume(), failed);
  });
}
