import { useEffect, useRef, useState } from 'preact/hooks';

import { Dialog } from '../kit/dialog.tsx';
import { Icon, type IconName } from '../kit/icon.tsx';
import { pages } from '../pages/index.ts';
import { api, type Page } from '../client/api.ts';
import { closeOverlay, commands, overlay } from './keyboard.ts';
import { below } from '../browser/base.ts';
import { address, goTo } from '../browser/location.ts';
import { signOut } from '../client/session.ts';
import { otherTheme } from '../browser/theme.ts';
import { palette as text } from '../text/english/palette.ts';
import { allWords } from '../text/words.ts';

interface Choice {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly run: () => void;
}

const own = (): readonly Choice[] => [
  ...pages()
    .filter(({ hidden }) => !hidden)
    .map(({ id, title, icon }) => ({
      id: `page ${id}`,
      title,
      kind: text.page,
      icon,
      run: () => goTo(address(id === '' ? [] : [id])),
    })),
  ...commands.value.map(({ id, title, run }) => ({
    id: `command ${id}`,
    title,
    kind: text.command,
    icon: 'right' as const,
    run,
  })),
  { id: 'theme', title: text.theme, kind: text.command, icon: 'sun', run: otherTheme },
  {
    id: 'keys',
    title: text.keys,
    kind: text.command,
    icon: 'right',
    run: () => overlay.set('keys'),
  },
  {
    id: 'words',
    title: text.words,
    kind: text.command,
    icon: 'right',
    run: () => void saveWords(),
  },
  {
    id: 'manual',
    title: text.manual,
    kind: text.command,
    icon: 'right',
    run: () => open(below('/docs')),
  },
  {
    id: 'glossary',
    title: text.glossary,
    kind: text.command,
    icon: 'right',
    run: () => open(below('/docs/glossary#glossary')),
  },
  { id: 'out', title: text.signOut, kind: text.command, icon: 'right', run: () => void signOut() },
];

export function Palette() {
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [found, setFound] = useState<readonly Choice[]>([]);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    const end = new AbortController();
    const timer = setTimeout(
      () =>
        void search(typed, end.signal).then((choices) => end.signal.aborted || setFound(choices)),
      80,
    );
    return () => {
      clearTimeout(timer);
      end.abort();
    };
  }, [typed]);
  const choices = [
    ...own().filter(({ title }) => matches(title, typed)),
    ...(typed.trim() === '' ? [] : found),
  ].slice(0, 30);
  const pick = (choice: Choice | undefined): void => {
    if (choice) {
      closeOverlay();
      choice.run();
    }
  };
  const keys = (event: KeyboardEvent): void => {
    const step = ({ ArrowDown: 1, ArrowUp: -1 } as Readonly<Record<string, number>>)[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(choices.length - 1, at + step)));
      list.current?.children[at + step]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      pick(choices[at]);
    }
  };
  return (
    <Dialog title={text.title} onClose={closeOverlay}>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={choices[at] && `choice-${at}`}
        aria-label={text.title}
        placeholder={text.hint}
        autoFocus
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label={text.title} ref={list}>
        {choices.map((choice, index) => (
          <li
            key={choice.id}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => pick(choice)}
            onMouseMove={() => setAt(index)}
          >
            <Icon name={choice.icon} />
            <span class="cut">{choice.title}</span>
            <span class="soft">{choice.kind}</span>
          </li>
        ))}
      </ul>
      {choices.length === 0 && <p class="soft palette-none">{text.none}</p>}
    </Dialog>
  );
}

/** Every page brings its words when it is loaded. */
async function saveWords(): Promise<void> {
  await Promise.all([...pages().map(({ load }) => load()), import('../pages/welcome/page.tsx')]);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(
    new Blob([JSON.stringify(allWords(), null, 2)], { type: 'application/json' }),
  );
  link.download = 'words-en.json';
  link.click();
  URL.revokeObjectURL(link.href);
}

const matches = (title: string, typed: string): boolean =>
  typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => title.toLowerCase().includes(word));

/** Searches everything by name; an area without its plugin finds nothing. */
async function search(typed: string, signal: AbortSignal): Promise<readonly Choice[]> {
  if (typed.trim() === '') {
    return [];
  }
  const query = { q: typed.trim(), limit: 6 };
  const [devices, incidents] = await Promise.all([
    api
      .get<Page<{ id: number; display_name: string }>>('/devices', query, signal)
      .catch(() => undefined),
    api
      .get<Page<{ id: number; summary: string; rule_name: string }>>(
        '/alerts/incidents',
        query,
        signal,
      )
      .catch(() => undefined),
  ]);
  return [
    ...(devices?.items ?? []).map(({ id, display_name: title }): Choice => ({
      id: `device ${id}`,
      title,
      kind: text.device,
      icon: 'devices',
      run: () => goTo(address(['devices', id])),
    })),
    ...(incidents?.items ?? []).map(({ id, summary, rule_name: name }): Choice => ({
      id: `incident ${id}`,
      title: summary || name,
      kind: `${text.incident} ${id}`,
      icon: 'incidents',
      run: () => goTo(address(['incidents', id])),
    })),
  ];
}

export function Keys() {
  const rows: readonly (readonly [keys: string, what: string])[] = [
    ['Ctrl K', text.palette],
    ['/', text.search],
    ['?', text.thisList],
    ...pages().flatMap(({ key, title }) =>
      key === undefined ? [] : [[`g ${key}`, title] as const],
    ),
    ['j k', text.walk],
    ['Enter', text.open],
    ['Esc', text.close],
  ];
  return (
    <Dialog title={text.keysTitle} onClose={closeOverlay}>
      <dl class="keys">
        {rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href={below('/docs')}>{text.manual}</a> ·{' '}
        <a href={below('/docs/glossary#glossary')}>{text.glossary}</a>
      </p>
    </Dialog>
  );
}
