import { useStore } from '../../../browser/store.ts';
import { address } from '../../../browser/location.ts';
import { editor as text } from '../../../text/english/watch/board-editor.ts';
import { say } from '../../../text/words.ts';
import { Button } from '../../../kit/parts.tsx';
import { drafts, keepDraft, ownDrafts } from './kept-drafts.ts';

/** Drafts that were left without saving, of one dashboard or of all: the way back to them. */
export function Unsaved({ of }: { readonly of?: string }) {
  const own = ownDrafts(useStore(drafts)).filter(
    ({ saved: { uid } }) => of === undefined || uid === of,
  );
  return (
    <>
      {own.map(({ saved: { uid }, steps: { now } }) => (
        <p key={uid} class="unsaved">
          <span>{say(text.unsaved, { title: now.title ?? uid })}</span>
          <a class="button" href={address(['dashboards', uid], { edit: 'on' })}>
            {text.goOn}
          </a>
          <Button onClick={() => keepDraft(uid, undefined)}>{text.discard}</Button>
        </p>
      ))}
    </>
  );
}
