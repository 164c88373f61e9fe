import type { Page } from 'playwright-core';

/** What axe does not look for: things wider than the window, a focus that is not seen, an order of tabs that is not that of the page. */
export const faultsOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(
    `(() => {
      const main = document.querySelector('main');
      const faults = [];
      if (document.documentElement.scrollWidth > innerWidth + 1 || main.scrollWidth > main.clientWidth + 1) {
        const edge = main.getBoundingClientRect().right + 1;
        faults.push('too wide: ' + main.scrollWidth + ' of ' + main.clientWidth, ...[...main.querySelectorAll('*')].filter((element) => element.getBoundingClientRect().right > edge).slice(0, 5).map((element) => element.outerHTML.slice(0, 160)));
      }
      const stops = [...main.querySelectorAll('a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex="0"]')].filter((element) => element.checkVisibility());
      for (const element of stops.slice(0, 40)) {
        element.focus({ focusVisible: true, preventScroll: true });
        const { outlineStyle, boxShadow } = getComputedStyle(element);
        if (document.activeElement !== element) {
          faults.push('takes no focus: ' + element.outerHTML.slice(0, 160));
        } else if (outlineStyle === 'none' && boxShadow === 'none') {
          faults.push('its focus is not seen: ' + element.outerHTML.slice(0, 160));
        }
      }
      document.activeElement.blur();
      faults.push(...[...main.querySelectorAll('[tabindex]')].filter(({ tabIndex }) => tabIndex > 0).map((element) => 'out of order: ' + element.outerHTML.slice(0, 160)));
      return faults;
    })()`,
  );
