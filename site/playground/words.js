// The page in Chinese: each text of it, wherever that comes from, is looked up in zh.json as it
// is shown. {} there is anything, which is looked up, too. What is in code, and what has
// translate="no", is a name.

import {byId, language} from '../../internal/page/static/dom.js';
import {forgetOldest} from '../../internal/page/static/history.js';
import texts from './zh.json';

const known = new Map(Object.entries(JSON.parse(texts)));
const literal = ([en]) => en.replaceAll('{}', '').length;
// Who says more comes first. Anything has no ": " in it, and at the beginning no comma.
const patterns = [...known].filter(([en]) => en.includes('{}')).sort((a, b) => literal(b) - literal(a)).map(([en, zh]) => [
  new RegExp(`^${en.split('{}').map((part) => part.replace(/[.*+?^$()[\]|\\]/g, '\\$&')).join('((?:(?!: ).)+?)')}$`.replace('^((?:(?!: )', '^((?:(?!: |, )')), zh]);
// What words are put together with.
const marks = {'. ': '。', ', ': '，', ': ': '：', ' and ': '、', ' → ': ' → '};
const mark = /\. |, |: | → |(?<=[A-Z)]s?) and /;

function look(en) {
  for (const [by, mark] of [[' · ', ' · '], ['; ', '；']]) {
    if (en.includes(by)) {
      return en.split(by).map(inChinese).join(mark);
    }
  }
  for (const [pattern, zh] of patterns) {
    const [, ...held] = pattern.exec(en) ?? [];
    if (held.length > 0) {
      let n = 0;
      return zh.replace(/{(\d?)}/g, (_, i) => inChinese(held[i || n++]));
    }
  }
  const sentence = known.get(`${en}.`);
  if (sentence) {
    return sentence.slice(0, -1);
  }
  const [by] = mark.exec(en) ?? [];
  const [head, tail] = by ? [en.slice(0, en.indexOf(by)), en.slice(en.indexOf(by) + by.length)] : [en];
  const put = inChinese(head);
  // Where nothing is known of the beginning, the words are a server's.
  return by && (put !== head || known.has(head) || !/[a-z]{2}/i.test(head)) ? put + marks[by] + inChinese(tail) : en;
}

const mostFound = 5000;
const found = new Map();
function inChinese(text) {
  const en = known.has(text) ? text : text.trim();
  if (known.has(en) || !/[a-z]/i.test(en)) {
    return text.replace(en, () => known.get(en) ?? en);
  }
  if (!found.has(en)) {
    found.set(en, en); // A part of it that is all of it is not looked up again.
    found.set(en, look(en));
    forgetOldest(found, mostFound);
  }
  return text.replace(en, () => found.get(en));
}

// --- what is on the page, in the language that was chosen ---

const page = document.documentElement;
const said = ['aria-label', 'aria-valuetext', 'title'];
const shown = new WeakMap(); // what stands in a node, and what it was made of

function put(node) {
  const before = shown.get(node);
  const en = before?.text === node.nodeValue ? before.en : node.nodeValue;
  const text = language.of(en);
  if (text !== node.nodeValue) {
    shown.set(node, {en, text});
    node.nodeValue = text;
  }
}

function putAll(root) {
  const names = 'script, style, textarea, code, pre, [translate=no]';
  if ((root.nodeType === Node.TEXT_NODE ? root.parentElement : root)?.closest(names)) {
    return;
  }
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => (node.matches?.(names) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  for (let node = root; node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      put(node);
    } else {
      said.forEach((name) => node.hasAttribute?.(name) && put(node.getAttributeNode(name)));
    }
  }
}

const seen = new MutationObserver((changes) => {
  for (const {type, target, addedNodes} of changes) {
    (type === 'childList' ? addedNodes : [target]).forEach(putAll);
  }
});

function speak(name) {
  page.dataset.speaks = name;
  page.lang = name === 'zh' ? 'zh-CN' : 'en';
  language.of = name === 'zh' ? inChinese : (text) => text;
  seen.disconnect();
  putAll(page);
  if (name === 'zh') {
    seen.observe(page, {subtree: true, childList: true, characterData: true, attributeFilter: said});
  }
  byId('language').textContent = name === 'zh' ? 'In English' : '本页中文';
  byId('language').lang = name === 'zh' ? 'en' : 'zh-CN';
  try {
    localStorage.setItem('speaks', name);
  } catch { /* not allowed here */ }
}

/** Shows the page in the language of the visitor, who may choose another one. */
export function open() {
  byId('language').addEventListener('click', () => speak(page.dataset.speaks === 'en' ? 'zh' : 'en'));
  speak(page.dataset.speaks);
}

/** Who writes, in words. A process of the controller is the controller. */
export const who = (by) => (by.startsWith('controller-') ? 'the controller' : by);
