import { useEffect, useRef, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { useData, useList } from '../../client/data.ts';
import { address, goTo, usePlace } from '../../browser/location.ts';
import { chat as text } from '../../text/english/act/chat.ts';
import { attempt } from '../../kit/dialog.tsx';
import { Markdown } from '../../kit/markdown.tsx';
import { Button, Empty, Head, Refused, Section } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { Calls } from './calls.tsx';
import { Keep, SharedAnswer } from './keep.tsx';
import { useRun, type Call } from './run.ts';

interface Session {
  readonly id: string;
  readonly title: string;
  readonly last_message_at: string | null;
  readonly created_at: string;
  readonly related_incident_id: number | null;
}

interface Message {
  readonly id: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly agent: string | null;
  readonly tool_calls: readonly Call[];
  readonly created_at: string;
}

export default function Chat() {
  const { parts } = usePlace();
  return parts[1] === 'shared' ? <SharedAnswer key={parts[2]} id={parts[2]} /> : <Conversations />;
}

function Conversations() {
  const { parts, query } = usePlace();
  const sessions = useList<Session>('/chat/sessions', { kinds: ['chat'], pageSize: 50 });
  return (
    <>
      <Head title={text.title}>
        <Button icon="plus" onClick={() => goTo(address(['chat']))}>
          {text.new}
        </Button>
      </Head>
      {sessions.error && <Refused error={sessions.error} retry={sessions.reload} />}
      <div class="columns narrow-first">
        <Section title={text.sessions}>
          <ul class="list">
            {sessions.items?.map(({ id, title, last_message_at: at, created_at: made }) => (
              <li key={id}>
                <a
                  class="cut"
                  href={address(['chat', id])}
                  aria-current={id === parts[1] ? 'page' : undefined}
                >
                  {title || text.new}
                </a>
                <span class="soft">
                  <Time at={at ?? made} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
        <Conversation
          key={parts[1] ?? 'new'}
          id={parts[1]}
          first={query.get('ask') ?? ''}
          incident={query.get('incident') ?? undefined}
          about={
            sessions.items?.find(({ id }) => id === parts[1])?.related_incident_id ?? undefined
          }
          onChange={sessions.reload}
        />
      </div>
    </>
  );
}

interface ConversationProps {
  readonly id: string | undefined;
  readonly first: string;
  readonly incident: string | undefined;
  /** Incident that an existing conversation is about. */
  readonly about: number | undefined;
  readonly onChange: () => void;
}

function Conversation({ id, first, incident, about, onChange }: ConversationProps) {
  const [draft, setDraft] = useState(first);
  const run = useRun(id, () => {
    messages.reload();
    onChange();
  });
  const messages = useMessages(id, run.isRunning);
  const send = async (): Promise<void> => {
    const content = draft.trim();
    if (content === '' || run.isRunning) {
      return;
    }
    if (id === undefined) {
      const { id: made } = await api.post<Session>(
        '/chat/sessions',
        incident === undefined ? {} : { related_incident_id: Number(incident) },
      );
      onChange();
      goTo(address(['chat', made], { ask: content }));
      return;
    }
    setDraft('');
    goTo(address(['chat', id]), { replace: true });
    await run.send(content);
  };
  // What was asked on the page of a new conversation is sent on its own.
  useEffect(() => {
    if (id !== undefined) {
      void attempt(first === '' ? run.resume : send);
    }
  }, [id]);
  return (
    <div class="chat">
      <Log session={id} about={about} messages={messages.items} run={run} />
      <form
        class="chat-box"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(send);
        }}
      >
        <textarea
          aria-label={text.message}
          placeholder={text.hint}
          rows={3}
          value={draft}
          onInput={(event) => setDraft(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
              event.preventDefault();
              void attempt(send);
            }
          }}
        />
        {run.isRunning ? (
          <Button onClick={() => void attempt(run.stop)}>{text.stop}</Button>
        ) : (
          <Button type="submit" kind="primary" disabled={draft.trim() === ''}>
            {text.send}
          </Button>
        )}
      </form>
    </div>
  );
}

/** Messages, including the one being written; keeps the end in view. */
function Log({
  session,
  about,
  messages,
  run,
}: {
  readonly session: string | undefined;
  readonly about: number | undefined;
  readonly messages: readonly Message[] | undefined;
  readonly run: ReturnType<typeof useRun>;
}) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [messages?.length, run.text]);
  return (
    <div class="chat-log" aria-live="polite">
      {messages?.length === 0 && !run.isRunning && <Empty title={text.none}>{text.noneNote}</Empty>}
      {messages?.map((message) => (
        <article key={message.id} class={`said said-${message.role}`}>
          <header class="soft">
            {message.role === 'user' ? text.you : (message.agent ?? text.agent)} ·{' '}
            <Time at={message.created_at} />
          </header>
          <Calls of={message.tool_calls} at={message.created_at} />
          {message.role === 'user' ? (
            <p class="plain">{message.content}</p>
          ) : (
            <Markdown text={message.content} />
          )}
          {message.role === 'assistant' && session !== undefined && message.content !== '' && (
            <Keep session={session} message={message.id} incident={about} />
          )}
        </article>
      ))}
      {run.asked !== undefined && (
        <article class="said said-user">
          <header class="soft">{text.you}</header>
          <p class="plain">{run.asked}</p>
        </article>
      )}
      {run.isRunning && (
        <article class="said said-assistant" aria-busy="true">
          <header class="soft">{run.agent ?? text.agent}</header>
          <Calls of={run.calls} />
          {run.text === '' ? <p class="soft">{text.works}</p> : <Markdown text={run.text} />}
          {run.approval !== undefined && (
            <p class="warning">
              {text.waits} <a href={address(['approvals', run.approval])}>{text.sign}</a>
            </p>
          )}
        </article>
      )}
      {run.error && <Refused error={run.error} />}
      <div ref={end} />
    </div>
  );
}

/** The last messages of a conversation, oldest first; a new one has none. A turn that runs is shown by its stream alone: what it leaves behind comes after it. */
function useMessages(
  id: string | undefined,
  isRunning: boolean,
): { readonly items: readonly Message[] | undefined; readonly reload: () => void } {
  const path = id === undefined ? undefined : `/chat/sessions/${encodeURIComponent(id)}/messages`;
  const { value, reload } = useData<{ items: readonly Message[] }>(path, {
    query: { order: 'desc', limit: 100 },
    kinds: ['chat'],
  });
  const settled = useRef(value);
  if (!isRunning || settled.current === undefined) {
    settled.current = value;
  }
  return { items: id === undefined ? [] : settled.current?.items.toReversed(), reload };
}
