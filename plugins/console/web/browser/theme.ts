import { kept, Store } from './store.ts';

export type Theme = 'system' | 'light' | 'dark';

const themes: readonly Theme[] = ['system', 'light', 'dark'];

/** What the reader has chosen for this machine. */
export const theme = new Store<Theme>(
  themes.find((name) => name === kept.read('theme')) ?? 'system',
);

/** Shows the chosen theme, now and whenever another one is chosen. */
export function followTheme(): void {
  const show = (): void => {
    const root = document.documentElement;
    if (theme.value === 'system') {
      delete root.dataset['theme'];
    } else {
      root.dataset['theme'] = theme.value;
    }
  };
  show();
  theme.onChange((chosen) => {
    kept.write('theme', chosen === 'system' ? undefined : chosen);
    show();
  });
}

/** Whether the page is dark at this moment. */
export const isDark = (): boolean =>
  theme.value === 'dark' ||
  (theme.value === 'system' &&
    typeof matchMedia === 'function' &&
    matchMedia('(prefers-color-scheme: dark)').matches);

export const otherTheme = (): void => theme.set(isDark() ? 'light' : 'dark');
