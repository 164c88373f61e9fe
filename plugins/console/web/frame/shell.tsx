import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { Icon } from '../kit/icon.tsx';
import { Notices } from '../kit/dialog.tsx';
import { Button, Empty, Skeleton } from '../kit/parts.tsx';
import { useNow } from '../kit/time.tsx';
import { type PageEntry, pages } from '../pages/index.ts';
import type { Page } from '../client/api.ts';
import { useData } from '../client/data.ts';
import { AddedPage } from './added-page.tsx';
import { type Addition, useAdditions, useMay } from '../client/additions.ts';
import { moment } from '../text/format.ts';
import { chooseLanguage, chosenLanguage, ownLanguage } from '../browser/language.ts';
import { connection, newerPage } from '../client/live.ts';
import { address, usePlace } from '../browser/location.ts';
import { overlay, showPalette } from './keyboard.ts';
import { type Session, signOut } from '../client/session.ts';
import { useStore } from '../browser/store.ts';
import { otherTheme } from '../browser/theme.ts';
import { shell as text } from '../text/english/frame.ts';
import { say } from '../text/words.ts';

type User = Extract<Session, { state: 'in' }>['user'];

/** The page around all pages: navigation, one bar, and what is said to all of them. */
export function Shell({ user }: { readonly user: User }) {
  const { parts } = usePlace();
  const [isOpen, setOpen] = useState(false);
  const additions = useAdditions();
  const entry = pages().find(({ id }) => id === (parts[0] ?? ''));
  const added = additions.pages.find(({ path }) => path === parts[0]);
  const isStale = useStore(connection).state === 'lost';
  const title = entry?.title ?? added?.nav.title;
  useEffect(() => {
    document.title = title === undefined ? 'svc' : `${title} · svc`;
    setOpen(false);
  }, [title, parts.join('/')]);
  return (
    <div class="shell" data-nav={isOpen ? 'open' : undefined} data-stale={isStale || undefined}>
      <a class="skip" href="#main">
        {text.skip}
      </a>
      <Side current={parts[0] ?? ''} added={additions.pages} rooms={additions.rooms} />
      <div class="veil" onClick={() => setOpen(false)} />
      <header class="bar">
        <button
          type="button"
          class="button button-quiet burger"
          aria-label={text.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="menu" />
        </button>
        <button type="button" class="jump" onClick={() => showPalette()}>
          <Icon name="search" />
          <span>{text.search}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <Heart />
        <Button kind="quiet" icon="sun" label={text.theme} onClick={otherTheme} />
        <Account user={user} />
      </header>
      <main id="main" tabIndex={-1}>
        <Banners />
        <Away room={entry?.room} rooms={additions.rooms} />
        {entry ? (
          <Loaded key={entry.id} entry={entry} />
        ) : added ? (
          <AddedPage key={added.id} page={added} />
        ) : (
          <NotFound />
        )}
      </main>
      <Notices />
      <Overlay />
    </div>
  );
}

/** Account menu: user, language, sign-out. */
function Account({ user }: { readonly user: User }) {
  const { languages } = useAdditions();
  return (
    <details class="account">
      <summary aria-label={`${initials(user.display_name)}, ${text.account}`}>
        {initials(user.display_name)}
      </summary>
      <div class="menu">
        <p>
          <b>{user.display_name}</b>
          <br />
          <span class="soft">{user.email}</span>
        </p>
        {languages.length > 0 && (
          <select
            aria-label={text.language}
            value={chosenLanguage() ?? ''}
            onChange={({ currentTarget: { value } }) => chooseLanguage(value || undefined)}
          >
            <option value="">{ownLanguage}</option>
            {languages.map(({ tag, title }) => (
              <option key={tag} value={tag} lang={tag}>
                {title}
              </option>
            ))}
          </select>
        )}
        <a href={address(['account'])}>{text.ownAccount}</a>
        <Button kind="quiet" onClick={() => void signOut()}>
          {text.signOut}
        </Button>
      </div>
    </details>
  );
}

function Side({
  current,
  added,
  rooms,
}: {
  readonly current: string;
  readonly added: readonly Addition[];
  readonly rooms: readonly string[];
}) {
  const may = useMay();
  const open = useData<Page<unknown>>('/alerts/incidents', {
    query: { status: 'open', limit: 1 },
    kinds: ['incidents'],
  });
  const entries = pages().filter(
    ({ hidden, room, right }) =>
      !hidden &&
      (room === undefined || rooms.includes(room)) &&
      (right === undefined || may(right)),
  );
  const sections = [
    ...new Set([...entries.map(({ section }) => section), ...added.map(({ nav }) => nav.section)]),
  ];
  return (
    <nav class="side" aria-label={text.nav}>
      <a class="brand" href={address([])}>
        <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
          <path
            d="M2 10h3l2-5 3.500 10L13 8l1.500 2H18"
            fill="none"
            stroke="currentColor"
            stroke-width="2"
            stroke-linejoin="round"
            stroke-linecap="round"
          />
        </svg>
        svc
      </a>
      {sections.map((section) => (
        <div key={section ?? ''} class="side-section">
          {section !== undefined && <h2>{section}</h2>}
          <ul>
            {entries
              .filter((entry) => entry.section === section)
              .map(({ id, title, icon }) => (
                <li key={id}>
                  <a
                    href={address(id === '' ? [] : [id])}
                    aria-current={id === current ? 'page' : undefined}
                  >
                    <Icon name={icon} />
                    <span>{title}</span>
                    {id === 'incidents' && (open.value?.total ?? 0) > 0 && (
                      <b class="badge" title={text.firing}>
                        {open.value!.total}
                      </b>
                    )}
                  </a>
                </li>
              ))}
            {added
              .filter(({ nav }) => nav.section === section)
              .map(({ id, path, nav }) => (
                <li key={id}>
                  <a href={address([path])} aria-current={path === current ? 'page' : undefined}>
                    <Icon name="plugins" />
                    <span>{nav.title}</span>
                  </a>
                </li>
              ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

/** Connection indicator: small while connected, and a bar across the page otherwise. */
function Heart() {
  const { state } = useStore(connection);
  const said = state === 'live' ? text.live : text.joining;
  return (
    <span class={`heart heart-${state}`} role="status" title={said}>
      <span class="hidden-text">{said}</span>
    </span>
  );
}

function Banners() {
  const connected = useStore(connection);
  const isOld = useStore(newerPage);
  const present = useNow();
  return (
    <div aria-live="assertive">
      {connected.state === 'lost' && (
        <p class="banner critical">{say(text.lost, { time: moment(connected.since, present) })}</p>
      )}
      {isOld && (
        <p class="banner info">
          {text.newer}{' '}
          <Button kind="quiet" onClick={() => location.reload()}>
            {text.reload}
          </Button>
        </p>
      )}
    </div>
  );
}

/** A page whose plugin is away, be it for the moment of a reload, says so. */
function Away({
  room,
  rooms,
}: {
  readonly room: string | undefined;
  readonly rooms: readonly string[];
}) {
  // None are known before the first answer; then no page is without its plugin.
  if (room === undefined || rooms.length === 0 || rooms.includes(room)) {
    return null;
  }
  return (
    <p class="banner warning" role="alert">
      {say(text.away, { plugin: room })} <a href={address(['plugins', room])}>{text.whyAway}</a>
    </p>
  );
}

const loaded = new Map<string, ComponentType>();

function Loaded({ entry }: { readonly entry: PageEntry }) {
  const [, draw] = useState(0);
  const [isBroken, setBroken] = useState(false);
  const Shown = loaded.get(entry.id);
  useEffect(() => {
    if (!loaded.has(entry.id)) {
      entry.load().then(
        (module) => {
          loaded.set(entry.id, module.default);
          draw((round) => round + 1);
        },
        () => setBroken(true),
      );
    }
  }, [entry.id]);
  return isBroken ? (
    <Empty title={text.broken}>
      <Button onClick={() => location.reload()}>{text.reload}</Button>
    </Empty>
  ) : Shown === undefined ? (
    <div class="page">
      <Skeleton lines={8} />
    </div>
  ) : (
    <div class="page">
      <Shown />
    </div>
  );
}

function NotFound() {
  return (
    <div class="page">
      <h1>{text.notFound}</h1>
      <p>
        <a href={address([])}>{text.toOverview}</a>
      </p>
    </div>
  );
}

function Overlay() {
  const shown = useStore(overlay);
  const [Parts, setParts] = useState<typeof import('./palette.tsx')>();
  useEffect(() => {
    if (shown !== undefined && Parts === undefined) {
      void import('./palette.tsx').then((module) => setParts(() => module));
    }
  }, [shown]);
  return shown === undefined || Parts === undefined ? null : shown === 'palette' ? (
    <Parts.Palette />
  ) : (
    <Parts.Keys />
  );
}

const initials = (name: string): string =>
  name
    .split(/\s+/)
    .map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase();
