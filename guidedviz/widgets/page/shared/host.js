// What a page asks of the host that it comes from, with the token of whoever looks.

/**
 * @param {string} token
 * @param {boolean} [hasBody]
 */
export const headersWith = (token, hasBody) => ({ ...(hasBody && { "Content-Type": "application/json" }), ...(token && { Authorization: `Bearer ${token}` }) });

/**
 * An error of the host in its four parts; of one that came while an answer grew, there is one line.
 * @param {any} error
 */
export const sayRefusal = ({ where, seen, expected, try: hint, message }) => where === undefined ? message : `${where}: ${seen}; expected ${expected}; try: ${hint}`;
