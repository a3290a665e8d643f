// A scripted grader: met.js says which criterion is met for which question, whose text the echo provider answers.
const met = require("./met.js");
module.exports = class {
  id() {
    return "judge-a";
  }
  async callApi(prompt) {
    const said = prompt.replaceAll('\\"', '"');
    const found = met.find((row) => said.includes(row.text) && said.includes(row.question));
    return { output: JSON.stringify({ pass: found.label === 1, score: found.label, reason: "so" }) };
  }
};
