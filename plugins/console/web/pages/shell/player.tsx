import type { Ref } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { asApiError } from '../../client/data.ts';
import { duration } from '../../text/format.ts';
import { address } from '../../browser/location.ts';
import { player as text } from '../../text/english/act/shell.ts';
import { say } from '../../text/words.ts';
import { CheckField, Segments } from '../../kit/form.tsx';
import { Button, Head, Skeleton } from '../../kit/parts.tsx';
import { type Cast, type CastEvent, castOf, shortened } from './cast.ts';
import type { Screen } from './terminal.ts';

const longestWait = 2;
const tickMs = 50;

/** Plays a recorded shell. Nothing of it runs: a terminal shows the bytes that were shown then. */
export function PlayerPage({ id }: { readonly id: string }) {
  const [cast, setCast] = useState<Cast>();
  const [refused, setRefused] = useState<string>();
  useEffect(() => {
    const own = new AbortController();
    const load = async (): Promise<void> => {
      const answer = await api.open('GET', `/webshell/recordings/${encodeURIComponent(id)}`, {
        query: { format: 'cast' },
        signal: own.signal,
      });
      const read = castOf(await answer.text());
      setCast(read);
      setRefused(read === undefined ? text.none : undefined);
    };
    load().catch((error: unknown) => own.signal.aborted || setRefused(asApiError(error).message));
    return () => own.abort();
  }, [id]);
  return (
    <>
      <Head title={say(text.title, { id })}>
        <a class="button" href={address(['shell', 'recordings'])}>
          {text.back}
        </a>
      </Head>
      {refused !== undefined ? (
        <div class="refused" role="alert">
          <p>{refused}</p>
        </div>
      ) : cast === undefined ? (
        <Skeleton height={300} />
      ) : (
        <Player cast={cast} />
      )}
    </>
  );
}

const speeds = ['1', '2', '4', '16'] as const;

function Player({ cast }: { readonly cast: Cast }) {
  const [isShort, setShort] = useState(true);
  const [speed, setSpeed] = useState<(typeof speeds)[number]>('1');
  const [isPlaying, setPlaying] = useState(false);
  const [at, setAt] = useState(0);
  const events = isShort ? shortened(cast.events, longestWait) : cast.events;
  const length = events.at(-1)?.at ?? 0;
  const element = useReplay(cast, events, at);

  useEffect(() => {
    if (!isPlaying) {
      return undefined;
    }
    const timer = setInterval(
      () => setAt((before) => Math.min(length, before + (tickMs / 1000) * Number(speed))),
      tickMs,
    );
    return () => clearInterval(timer);
  }, [isPlaying, speed, length]);
  useEffect(() => {
    if (at >= length) {
      setPlaying(false);
    }
  }, [at, length]);

  return (
    <>
      <div class="terminal played" ref={element} role="group" aria-label={text.terminal} />
      <div class="player">
        <Button
          kind="primary"
          icon={isPlaying ? 'pause' : 'play'}
          onClick={() => {
            setAt(at >= length ? 0 : at);
            setPlaying(!isPlaying);
          }}
        >
          {isPlaying ? text.pause : text.play}
        </Button>
        <input
          type="range"
          aria-label={text.place}
          min={0}
          max={length}
          step="any"
          value={at}
          onInput={(event) => setAt(Number(event.currentTarget.value))}
        />
        <span class="soft">
          {duration(Math.floor(at))} / {duration(Math.ceil(length))}
        </span>
        <Segments
          label={text.speed}
          value={speed}
          onChange={setSpeed}
          options={speeds.map((one) => [one, `${one}×`] as const)}
        />
      </div>
      <CheckField
        label={text.shorten}
        value={isShort}
        onChange={(value) => {
          setShort(value);
          setAt(0);
        }}
      />
    </>
  );
}

/** A terminal that shows what was shown until `at`; a time before the present one is found by showing it all again. */
function useReplay(
  { cols, rows }: Cast,
  events: readonly CastEvent[],
  at: number,
): Ref<HTMLDivElement> {
  const element = useRef<HTMLDivElement>(null);
  const screen = useRef<Screen | undefined>(undefined);
  const shown = useRef(0);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    let isLeft = false;
    void import('./terminal.ts').then(({ openScreen }) => {
      if (!isLeft) {
        screen.current = openScreen(element.current!, { cols, rows });
        screen.current.terminal.options.disableStdin = true;
        setReady(true);
      }
    });
    return () => {
      isLeft = true;
      screen.current?.close();
    };
  }, []);
  useEffect(() => {
    const terminal = screen.current?.terminal;
    if (terminal === undefined) {
      return;
    }
    if (shown.current > 0 && (events[shown.current - 1]?.at ?? 0) > at) {
      terminal.reset();
      shown.current = 0;
    }
    for (
      let event = events[shown.current];
      event !== undefined && event.at <= at;
      event = events[shown.current]
    ) {
      show(terminal, event);
      shown.current += 1;
    }
  }, [at, isReady]);
  return element;
}

function show(terminal: Screen['terminal'], { kind, text: shown }: CastEvent): void {
  if (kind === 'shown') {
    terminal.write(shown);
    return;
  }
  const [cols, rows] = shown.split('x').map(Number);
  if (cols !== undefined && rows !== undefined && cols > 0 && rows > 0) {
    terminal.resize(Math.min(cols, 500), Math.min(rows, 200));
  }
}
