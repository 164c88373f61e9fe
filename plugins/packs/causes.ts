/** How a process ended, as the system tells it. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines it wrote to standard error. */
  readonly lastWords: readonly string[];
}

/** Exit code of a child that found itself without restrictions. */
const unrestricted = 78;

export interface Cause {
  readonly text: string;
  /** Another start would end the same way. */
  readonly hopeless: boolean;
}

/** Says in one sentence why a process ended by itself. */
export function causeOf({ code, signal, lastWords }: Exit, heapMb: number): Cause {
  const words = lastWords.join('\n');
  if (/heap out of memory/.test(words)) {
    return { text: `out of memory: the heap grew beyond ${heapMb} MB`, hopeless: false };
  }
  if (code === unrestricted) {
    return { text: lastWords.at(-1) ?? 'refused to run without the permission model', hopeless: true };
  }
  if (code === 9) {
    return { text: `this Node does not take the flags of a child: ${lastWords.at(-1) ?? 'no reason given'}`, hopeless: true };
  }
  if (signal !== null) {
    return { text: `killed by ${signal} from outside${signal === 'SIGKILL' ? ', perhaps by the system for want of memory' : ''}`, hopeless: false };
  }
  const error = lastWords.findLast((line) => /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b/.test(line));
  return { text: `exited with code ${code}${error ? `: ${error}` : ''}`, hopeless: false };
}
