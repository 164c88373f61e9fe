/** Max marks (commas, colons and opening brackets) of JSON that is parsed while others wait: at their worst they take 20 ms. */
const maxJsonMarks = 100_000;

/** Parses JSON of a stranger; throws a SyntaxError for what is none, and a RangeError for what would keep others waiting. */
export function parseForeignJson(text: string, mostMarks = maxJsonMarks): unknown {
  let [marks, isText] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) {
      at++;
    } else if (code === 0x22) {
      isText = !isText;
    } else if (!isText && ',:[{'.includes(text[at]!) && ++marks > mostMarks) {
      throw new RangeError(`${mostMarks} values`);
    }
  }
  return JSON.parse(text);
}
