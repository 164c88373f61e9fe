/** Exit of a process, as the system reports it. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines it wrote to standard error. */
  readonly lastWords: readonly string[];
}

/** Exit code of a child that found itself without restrictions. */
const unrestricted = 78;

/** Cause of a process's end, in one word that people and drills search for. */
export type CauseKind =
  | 'spinning'
  | 'out-of-memory'
  | 'flooding'
  | 'garbage'
  | 'stuck'
  | 'exited'
  | 'killed'
  | 'not-started'
  | 'unrestricted'
  | 'stopped';

export interface Cause {
  readonly kind: CauseKind;
  readonly text: string;
  /** Another start would end the same way. */
  readonly hopeless: boolean;
}

/** Describes in one sentence why a process ended. */
export function causeOf({ code, signal, lastWords }: Exit, heapMb: number): Cause {
  const words = lastWords.join('\n');
  if (/heap out of memory/.test(words)) {
    return {
      kind: 'out-of-memory',
      text: `out of memory: the heap grew beyond ${heapMb} MB`,
      hopeless: false,
    };
  }
  if (code === unrestricted) {
    return {
      kind: 'unrestricted',
      text: lastWords.at(-1) ?? 'refused to run without the permission model',
      hopeless: true,
    };
  }
  if (code === 9) {
    return {
      kind: 'unrestricted',
      text: `this Node does not support the flags of a child process: ${lastWords.at(-1) ?? 'no reason given'}`,
      hopeless: true,
    };
  }
  if (signal !== null) {
    const perhaps = signal === 'SIGKILL' ? ', perhaps by the system because memory ran out' : '';
    return { kind: 'killed', text: `killed by ${signal} from outside${perhaps}`, hopeless: false };
  }
  const error = lastWords.findLast((line) =>
    /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)\b/.test(line),
  );
  return {
    kind: 'exited',
    text: `exited with code ${code}${error ? `: ${error}` : ''}`,
    hopeless: false,
  };
}
