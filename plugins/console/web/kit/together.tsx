import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

import { FirstAnswers } from '../client/data.ts';
import { Skeleton } from './parts.tsx';

/**
 * Time limit beyond that of a healthy svc; after it available parts are shown, and skeletons for
 * the rest.
 */
const longestMs = 1_500;

/**
 * Parts that are shown together once all have their first answer, so that none pushes away what is
 * being read.
 */
export function Together({ children }: { readonly children: ComponentChildren }) {
  const [isShown, show] = useState(false);
  const awaited = useRef(new Set<object>()).current;
  const look = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const changed = useCallback((part: object, isWaiting: boolean) => {
    awaited[isWaiting ? 'add' : 'delete'](part);
    clearTimeout(look.current);
    // An answer may bring a part that asks in its turn.
    look.current = setTimeout(() => awaited.size === 0 && show(true), 0);
  }, []);
  useEffect(() => {
    const late = setTimeout(() => show(true), longestMs);
    return () => {
      clearTimeout(late);
      clearTimeout(look.current);
    };
  }, []);
  return (
    <FirstAnswers.Provider value={changed}>
      {!isShown && <Skeleton lines={8} />}
      <div class={isShown ? undefined : 'unseen'}>{children}</div>
    </FirstAnswers.Provider>
  );
}
