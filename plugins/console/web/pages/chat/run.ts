import { useEffect, useRef, useState } from 'preact/hooks';

import { api, ApiError } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';

/** One call of a tool, as messages and running turns show it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly result_preview: string;
}

/** State of a turn so far. */
interface Turn {
  readonly asked: string | undefined;
  readonly text: string;
  readonly calls: readonly Call[];
  readonly agent: string | undefined;
  readonly approval: string | undefined;
  readonly runId: string | undefined;
  readonly error: ApiError | undefined;
  readonly isRunning: boolean;
}

const still: Turn = {
  asked: undefined,
  text: '',
  calls: [],
  agent: undefined,
  approval: undefined,
  runId: undefined,
  error: undefined,
  isRunning: false,
};

interface Chunk {
  readonly type: string;
  readonly [field: string]: unknown;
}

const againMs = 250;
/** People take their time to sign. */
const signedMs = 2_000;
const mostTries = 20;

/**
 * Sends a message and follows the answer; a lost stream is resumed after the last event that
 * arrived.
 */
export function useRun(session: string | undefined, onEnd: () => void) {
  const [turn, setTurn] = useState<Turn>(still);
  const now = useRef(turn);
  const change = (next: Turn): void => {
    now.current = next;
    setTurn(next);
  };
  const path = `/chat/sessions/${encodeURIComponent(session ?? '')}`;
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  /** Follows a run; without a message, the current one from its beginning. */
  const follow = async (content?: string): Promise<void> => {
    let last = '';
    for (let tries = 0, isOver = false; !isOver && !isGone.current; tries++) {
      const answer =
        content !== undefined && tries === 0
          ? await api.open('POST', `${path}/messages/stream`, {
              body: { content },
              headers: { accept: 'text/event-stream' },
            })
          : await api.open('GET', `${path}/messages/stream`, {
              headers: {
                accept: 'text/event-stream',
                ...(last !== '' && { 'last-event-id': last }),
              },
            });
      for await (const { id, chunk } of eventsOf(answer)) {
        last = id === '' ? last : id;
        change(after(now.current, chunk));
        isOver ||= chunk.type === 'finish' && chunk['finishReason'] !== 'tool-calls';
      }
      const waits = now.current.approval !== undefined;
      if (!isOver && !waits && (last === '' || tries >= mostTries)) {
        return;
      }
      await new Promise((done) => setTimeout(done, isOver ? 0 : waits ? signedMs : againMs));
    }
  };
  const shown = async (asked: string | undefined, content?: string): Promise<void> => {
    change({ ...still, asked, isRunning: true });
    try {
      await follow(content);
      change(now.current.error === undefined ? still : { ...still, error: now.current.error });
    } catch (error) {
      change({ ...still, error: asApiError(error) });
    }
    onEnd();
  };
  return {
    ...turn,
    send: (content: string): Promise<void> => shown(content, content),
    /** Resumes a run that began before this page was opened: it may wait for a signature. */
    async resume(): Promise<void> {
      const { items } = await api.get<{ items: readonly { state: string }[] }>(`${path}/runs`);
      if (items[0] !== undefined && items[0].state !== 'ended' && !now.current.isRunning) {
        await shown(undefined);
      }
    },
    async stop(): Promise<void> {
      const { runId } = now.current;
      if (runId !== undefined) {
        await api.post(`${path}/runs/${encodeURIComponent(runId)}/cancel`);
      }
    },
  };
}

/** The turn after one more event; events that the page does not show change nothing. */
function after(turn: Turn, chunk: Chunk): Turn {
  const id = textOf(chunk['toolCallId']);
  const finished = (status: string, result: unknown): Turn => ({
    ...turn,
    calls: turn.calls.map((call) =>
      call.id === id
        ? {
            ...call,
            status,
            result_preview:
              typeof result === 'string' ? result : JSON.stringify(result, undefined, 2),
          }
        : call,
    ),
  });
  switch (chunk.type) {
    case 'start':
      return { ...turn, runId: textOf(chunk['messageId']) };
    case 'text-delta':
      return { ...turn, text: turn.text + textOf(chunk['delta']) };
    case 'tool-input-available':
      return {
        ...turn,
        calls: [
          ...turn.calls,
          {
            id,
            name: textOf(chunk['toolName']),
            arguments: fieldsOf(chunk['input']),
            status: 'running',
            result_preview: '',
          },
        ],
      };
    case 'tool-output-available':
      return { ...finished('ok', chunk['output']), approval: undefined };
    case 'tool-output-error':
      return { ...finished('error', chunk['errorText']), approval: undefined };
    case 'tool-output-denied':
      return { ...finished('denied', ''), approval: undefined };
    case 'tool-approval-request':
      return { ...turn, approval: textOf(chunk['approvalId']) };
    case 'data-plan':
      return { ...turn, agent: (chunk['data'] as { agent?: string }).agent };
    case 'error':
      return {
        ...turn,
        error: asApiError(new ApiError(200, 'run_failed', textOf(chunk['errorText']))),
      };
    default:
      return turn;
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The events of a stream, read line by line. */
async function* eventsOf(
  answer: Response,
): AsyncGenerator<{ readonly id: string; readonly chunk: Chunk }> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let id = '';
  for (;;) {
    const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
    if (done) {
      return;
    }
    rest += value;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id:')) {
        id = line.slice(3).trim();
      } else if (line.startsWith('data:') && line.slice(5).trim().startsWith('{')) {
        yield { id, chunk: JSON.parse(line.slice(5)) as Chunk };
      }
    }
  }
}
