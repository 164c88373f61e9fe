import { useEffect, useState } from 'preact/hooks';

import { api } from '../../client/api.ts';
import { checks as text } from '../../text/english/watch/checks.ts';
import { say } from '../../text/words.ts';
import { Section } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';

interface PictureProps {
  /** Path of the check. */
  readonly path: string;
  readonly at: string;
  readonly place: string;
}

/** Picture of the page on which a step last failed. */
export function Picture({ path, at, place }: PictureProps) {
  const [source, setSource] = useState<string>();
  useEffect(() => {
    const left = new AbortController();
    void sourceOf(`${path}/picture`, left.signal).then(setSource, () => setSource(undefined));
    return () => left.abort();
  }, [path, at]);
  return (
    <Section title={text.picture}>
      <p class="soft">
        {say(text.pictureNote, { place })} <Time at={at} as="clock" />
      </p>
      {source !== undefined && <img class="picture" src={source} alt={text.pictureOf} />}
    </Section>
  );
}

/** Fetches a picture with the token of the session, which an element of the page would not send. */
async function sourceOf(path: string, signal: AbortSignal): Promise<string> {
  const picture = await (await api.open('GET', path, { signal })).blob();
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(reader.error ?? new Error(path)));
    reader.readAsDataURL(picture);
  });
}
