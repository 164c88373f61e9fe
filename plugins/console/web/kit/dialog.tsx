import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import type { ApiError } from '../client/api.ts';
import { asApiError } from '../client/data.ts';
import { Store, useStore } from '../browser/store.ts';
import { dialog as text } from '../text/english/kit.ts';
import { Button } from './parts.tsx';

/** Modal question. Escape and a click outside close it; the focus returns to where it was. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}) {
  const element = useRef<HTMLDialogElement>(null);
  // Before a field in it takes the focus.
  const before = useRef(document.activeElement as HTMLElement);
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => {
      dialog.close();
      before.current.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? 'dialog wide' : 'dialog'}
      aria-label={title}
      onCancel={(event) => {
        // At once: the event close comes later, when another dialog may stand here.
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <header>
        <h2>{title}</h2>
        <Button kind="quiet" icon="close" label={text.close} onClick={onClose} />
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface Notice {
  readonly id: number;
  readonly tone: 'ok' | 'critical';
  readonly message: string;
}

const notices = new Store<readonly Notice[]>([]);
let nextNotice = 1;

/**
 * Shows a notice at the edge of the page about a success or failure; it disappears automatically.
 */
export function tell(message: string, tone: Notice['tone'] = 'ok'): void {
  const id = nextNotice++;
  notices.set([...notices.value.slice(-3), { id, tone, message }]);
  setTimeout(() => dismiss(id), tone === 'ok' ? 4_000 : 10_000);
}

const dismiss = (id: number): void =>
  notices.set(notices.value.filter((notice) => notice.id !== id));

/** Does something at the press of a button: says `done`, or what svc refused. False when it did. */
export async function attempt(work: () => Promise<unknown>, done?: string): Promise<boolean> {
  try {
    await work();
    if (done !== undefined) {
      tell(done);
    }
    return true;
  } catch (error) {
    const refused: ApiError = asApiError(error);
    tell(refused.message, 'critical');
    return false;
  }
}

export function Notices() {
  return (
    <div class="notices" aria-live="polite">
      {useStore(notices).map(({ id, tone, message }) => (
        <div key={id} class={`notice ${tone}`}>
          <span>{message}</span>
          <Button kind="quiet" icon="close" label={text.dismiss} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
