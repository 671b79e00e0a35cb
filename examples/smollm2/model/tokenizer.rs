//! SmolLM2's byte-level BPE, built from the vocabulary and the merges that the GGUF file carries.

use tokenizers::{
    AddedToken, Tokenizer,
    models::bpe::{BPE, Vocab},
    pre_tokenizers::{PreTokenizerWrapper, byte_level::ByteLevel, digits::Digits, sequence::Sequence},
};

use super::{
    Result,
    gguf::{Gguf, Value},
};

/// Token types of GGUF that are matched in the text as a whole, before any BPE.
const CONTROL: i64 = 3;
const USER_DEFINED: i64 = 4;

pub(crate) fn load(file: &Gguf) -> Result<Tokenizer> {
    let tokens = strings(file, "tokenizer.ggml.tokens")?;
    let merges = strings(file, "tokenizer.ggml.merges")?
        .into_iter()
        .map(|merge| {
            merge
                .split_once(' ')
                .map(|(a, b)| (a.into(), b.into()))
                .ok_or_else(|| format!("merge {merge:?} has no space"))
        })
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let special: Vec<AddedToken> = tokens
        .iter()
        .zip(file.array("tokenizer.ggml.token_type")?)
        .filter(|(_, kind)| matches!(kind, Value::Int(CONTROL | USER_DEFINED)))
        .map(|(token, _)| AddedToken::from(*token, true))
        .collect();
    let vocabulary: Vocab = (0..).zip(&tokens).map(|(id, token)| (token.to_string(), id)).collect();

    let mut tokenizer = Tokenizer::new(BPE::builder().vocab_and_merges(vocabulary, merges).build()?);
    // Each digit stands alone; GPT-2's pattern splits the rest into words.
    let byte_level = ByteLevel::new(false, true, true);
    tokenizer
        .with_pre_tokenizer(Some(Sequence::new(vec![
            PreTokenizerWrapper::Digits(Digits::new(true)),
            byte_level.into(),
        ])))
        .with_decoder(Some(byte_level));
    tokenizer.add_special_tokens(special)?;
    Ok(tokenizer)
}

fn strings<'a>(file: &'a Gguf, key: &str) -> Result<Vec<&'a str>> {
    file.array(key)?
        .iter()
        .map(|value| match value {
            Value::String(s) => Ok(s.as_str()),
            other => Err(format!("{key} holds {other:?}, not a string").into()),
        })
        .collect()
}
