import { useEffect, useRef, useState } from 'preact/hooks';

import { figure } from '../../text/format.ts';
import { Store, useStore } from '../../browser/store.ts';
import { apiAnswer as text } from '../../text/english/administration/api.ts';
import { Button, Section } from '../../kit/parts.tsx';
import { Status } from '../../kit/status.tsx';

const span = (ms: number): string => figure(ms / 1000, 'seconds');

/** Max bytes of an answer that are kept; below, those that are shown. */
const mostBytes = 8 * 1_048_576;
const mostShown = 200_000;

/** Result of one request, during and after its arrival. */
export interface Heard {
  readonly status: number;
  readonly statusText: string;
  readonly type: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Time until the headers, and below, until the end of the answer. */
  readonly firstMs: number;
  readonly ms: number | undefined;
  readonly bytes: number;
  readonly isCut: boolean;
  readonly body: Uint8Array<ArrayBuffer>;
}

export class Answer {
  readonly state = new Store<Heard | 'waiting' | 'silent'>('waiting');
  readonly #ended = new AbortController();

  stop(): void {
    this.#ended.abort();
  }

  /** Sends, and listens until the answer is whole, too long, or enough. */
  async hear(send: (signal: AbortSignal) => Promise<Response>): Promise<void> {
    const began = performance.now();
    const since = (): number => performance.now() - began;
    let heard: Heard | undefined;
    try {
      const answer = await send(this.#ended.signal);
      const type = answer.headers.get('content-type') ?? '';
      const head = {
        status: answer.status,
        statusText: answer.statusText,
        type,
        headers: [...answer.headers],
        firstMs: since(),
      };
      heard = { ...head, ms: undefined, bytes: 0, isCut: false, body: new Uint8Array() };
      this.state.set(heard);
      const reader = answer.body?.getReader();
      for (
        let next = await reader?.read();
        next?.value !== undefined;
        next = await reader!.read()
      ) {
        heard = {
          ...heard,
          bytes: heard.bytes + next.value.length,
          body: joined(heard.body, next.value),
        };
        if (heard.bytes > mostBytes) {
          heard = { ...heard, isCut: true };
          this.stop();
          break;
        }
        this.state.set(heard);
      }
      this.state.set({ ...heard, ms: since() });
    } catch {
      // What came until then stands; nothing at all is silence.
      this.state.set(heard === undefined ? 'silent' : { ...heard, ms: since() });
    }
  }
}

function joined(before: Uint8Array<ArrayBuffer>, more: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(before.length + more.length);
  whole.set(before);
  whole.set(more, before.length);
  return whole;
}

/** Status, timing and text of an answer. */
export function AnswerView({ answer }: { readonly answer: Answer }) {
  const heard = useStore(answer.state);
  const element = useRef<HTMLDivElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!isSeen && heard !== 'waiting') {
      setSeen(true);
      element.current?.scrollIntoView({ block: 'nearest' });
    }
  }, [heard]);
  if (heard === 'waiting' || heard === 'silent') {
    return (
      <Section
        title={text.title}
        aside={heard === 'waiting' && <Button onClick={() => answer.stop()}>{text.stop}</Button>}
      >
        {heard === 'silent' && <p class="critical calm">{text.silent}</p>}
      </Section>
    );
  }
  const { status, statusText, firstMs, ms, bytes, type } = heard;
  const isRefusal = status >= 400;
  return (
    <Section
      title={text.title}
      aside={
        ms === undefined ? (
          <Button onClick={() => answer.stop()}>{text.stop}</Button>
        ) : (
          <Button onClick={() => save(heard)}>{text.save}</Button>
        )
      }
    >
      <div ref={element} role="status" class="answer-head">
        <Status tone={isRefusal ? (status >= 500 ? 'critical' : 'warning') : 'ok'}>
          <b>
            {status} {statusText}
          </b>
        </Status>
        <span class="soft">
          {ms !== undefined && ms - firstMs > 20
            ? `${span(firstMs)} + ${span(ms - firstMs)}`
            : span(firstMs)}
        </span>
        <span class="soft">{figure(bytes, 'bytes')}</span>
        <span class="soft mono">{type}</span>
      </div>
      <Body heard={heard} />
      <details class="answer-headers">
        <summary class="soft">{text.headers}</summary>
        <pre class="mono">
          {heard.headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </pre>
      </details>
    </Section>
  );
}

function Body({ heard: { body, type, isCut, ms } }: { readonly heard: Heard }) {
  if (body.length === 0) {
    return ms === undefined ? null : <p class="soft calm">{text.empty}</p>;
  }
  const shown = textOf(body, type);
  return (
    <>
      <pre class="mono answer-body" tabIndex={0} role="region" aria-label={text.body}>
        {shown === undefined ? text.binary : shown.slice(0, mostShown)}
      </pre>
      {(isCut || (shown?.length ?? 0) > mostShown) && <p class="hint">{text.cut}</p>}
    </>
  );
}

/** Returns formatted JSON, or other text as it is; undefined for binary data. */
function textOf(body: Uint8Array, type: string): string | undefined {
  try {
    const plain = new TextDecoder('utf-8', { fatal: true }).decode(body);
    return /\bjson\b/.test(type) ? JSON.stringify(JSON.parse(plain), null, 2) : plain;
  } catch (error) {
    // Half a text, or JSON that is cut, is shown all the same; bytes that are none are not.
    return error instanceof SyntaxError || type.startsWith('text/')
      ? new TextDecoder().decode(body)
      : undefined;
  }
}

function save({ body, type }: Heard): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([body], { type: type === '' ? 'application/octet-stream' : type }),
  );
  link.download = /\bjson\b/.test(type) ? 'answer.json' : 'answer';
  link.click();
  URL.revokeObjectURL(link.href);
}
