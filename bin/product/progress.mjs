// Prints one line about a slow operation. It goes to stderr: stdout belongs to the command's
// answer.
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Shows `what` with the elapsed seconds until `end`; `beat` runs along, at least once a second; a sentence that it answers with is shown and stays. */
export function progress(what, /** @type {() => unknown} */ beat = () => {}) {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  const live = process.stderr.isTTY;
  if (!live) {
    process.stderr.write(`${what} …\n`);
  }
  let frame = 0;
  const timer = setInterval(
    () => {
      const told = beat();
      if (typeof told === 'string') {
        process.stderr.write(`${live ? '\r\u001b[K' : ''}${told}\n`);
      }
      if (live) {
        process.stderr.write(`\r${frames[frame++ % frames.length]} ${what} … ${seconds()} s`);
      }
    },
    live ? 100 : 1000,
  );
  return {
    end(outcome) {
      clearInterval(timer);
      process.stderr.write(`${live ? '\r\u001b[K' : ''}${outcome} (${seconds()} s)\n`);
    },
  };
}
