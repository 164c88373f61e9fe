import './styles/plot.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/kit.css';
import './styles/pages.css';
import './styles/watch.css';
import './styles/work.css';

import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { below } from './browser/base.ts';
import { forgetAnswers } from './client/data.ts';
import { followKeys } from './frame/keyboard.ts';
import { speak } from './browser/language.ts';
import { startLive } from './client/live.ts';
import { followLinks, place } from './browser/location.ts';
import { resume, session } from './client/session.ts';
import { Shell } from './frame/shell.tsx';
import { useStore } from './browser/store.ts';
import { followTheme } from './browser/theme.ts';
import { showEverything } from './browser/visible.ts';

/** The console, or the way into it. */
function Root() {
  const now = useStore(session);
  const [welcome, setWelcome] = useState<typeof import('./pages/welcome/page.tsx')>();
  useEffect(() => {
    if (now.state === 'out') {
      forgetAnswers();
      void import('./pages/welcome/page.tsx').then((module) => setWelcome(() => module));
    }
    return now.state === 'in' ? startLive() : undefined;
  }, [now.state]);
  if (now.state === 'in') {
    return <Shell user={now.user} key={now.user.id} />;
  }
  const Welcome = welcome?.Welcome;
  return now.state === 'out' && Welcome ? <Welcome why={now.why} /> : null;
}

// Not in the document: a browser fetches again what is named there whenever the address changes.
document.querySelector('link')!.href = below('/favicon.ico');
showEverything();
followTheme();
followLinks();
followKeys();
void speak().then(async () => {
  const [page, token] = place.value.parts;
  if (page === 'shared' && token !== undefined) {
    // Whoever opens a public link has no session, and needs none.
    (await import('./pages/shared/page.tsx')).show(token);
    return;
  }
  render(<Root />, document.getElementById('page')!);
  void resume();
});
