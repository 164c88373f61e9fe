import type { Page } from 'playwright-core';

/**
 * Script that finds why a page is too wide: the innermost element that reaches over the edge and
 * that no ancestor clips or scrolls, as a path of selectors.
 */
const widest = `const widest = () => {
  const edge = Math.min(innerWidth, document.querySelector('main').getBoundingClientRect().right) + 1;
  const rightOf = (node) => {
    const range = document.createRange();
    range.selectNode(node);
    return Math.max(...[...range.getClientRects()].map(({ right }) => right));
  };
  const isFree = (element) => element === null || element.matches('main, body') || (getComputedStyle(element).overflowX === 'visible' && isFree(element.parentElement));
  const nameOf = (element) => element.tagName.toLowerCase() + [...element.classList].map((name) => '.' + name).join('');
  const pathTo = (element) => (element.matches('main, body') ? '' : pathTo(element.parentElement) + ' > ') + nameOf(element);
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let found;
  for (let node = nodes.nextNode(); node !== null; node = nodes.nextNode()) {
    const holder = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    const reaches = rightOf(node) > edge && isFree(node.nodeType === Node.TEXT_NODE ? holder : holder.parentElement);
    if (reaches && (found === undefined || found.contains(holder))) {
      found = holder;
    }
  }
  return found === undefined ? 'no element reaches over the edge' : pathTo(found).slice(-120) + ' ' + found.textContent.trim().slice(0, 24);
};`;

/**
 * Returns faults that axe does not detect: elements wider than the window, an invisible focus, a
 * tab order that differs from that of the page.
 */
export const faultsOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate<readonly string[]>(
    `(() => {
      ${widest}
      const main = document.querySelector('main');
      const faults = [];
      if (document.documentElement.scrollWidth > innerWidth + 1 || main.scrollWidth > main.clientWidth + 1) {
        faults.push('too wide: ' + main.scrollWidth + ' of ' + main.clientWidth + ': ' + widest());
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
